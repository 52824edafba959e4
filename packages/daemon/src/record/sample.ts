/** Reads and writes a line of `times.idx` (times.ts). */
export interface Size {
  columns: number;
  rows: number;
}

/** `step`: how far the clock was set since the previous sample. */
export type Sample = { at: number | null; offset: number; size?: Size; step?: number };

const LINE = /^(-|\d+) (\d+)(?: (\d+)x(\d+))?(?: ~(-?\d+))?$/;

export function samplesIn(text: string): Sample[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap(parseSample);
}

function parseSample(line: string): Sample[] {
  const match = LINE.exec(line);
  if (!match) return [];
  const sample: Sample = { at: match[1] === "-" ? null : Number(match[1]), offset: Number(match[2]) };
  if (match[3] !== undefined) sample.size = { columns: Number(match[3]), rows: Number(match[4]) };
  if (match[5] !== undefined) sample.step = Number(match[5]);
  return [sample];
}

export function textOf({ at, offset, size, step }: Sample): string {
  return `${at ?? "-"} ${offset}${size ? ` ${size.columns}x${size.rows}` : ""}${step ? ` ~${Math.round(step)}` : ""}\n`;
}
