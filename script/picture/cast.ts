/** A recording as asciicast v2 writes it: seconds since its beginning, "o" for output and "m" for a marker, the text. */
export interface Cast {
  columns: number;
  rows: number;
  events: [seconds: number, kind: "o" | "m", text: string][];
}

export function writeCast({ columns, rows, events }: Cast): string {
  const header = { version: 2, width: columns, height: rows };
  return `${[header, ...events].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

export function readCast(text: string): Cast {
  const [header, ...events] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { columns: header.width, rows: header.height, events };
}
