const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Color = keyof typeof CODES;

/** Colour only for a terminal that wants it: https://no-color.org. */
export function color(name: Color, text: string, stream: { isTTY?: boolean } = process.stdout): string {
  if (!hasColor(stream)) return text;
  return `\x1b[${CODES[name]}m${text}\x1b[0m`;
}

export function hasColor(stream: { isTTY?: boolean } = process.stdout): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}
