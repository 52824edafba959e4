/**
 * Text with styles, and rows of it. An agent's output becomes plain text here; only painted text has escape sequences, and all of them are
 * Holdfast's.
 */
import { plain } from "../text/plain.ts";

/** SGR parameters: `1` bold, `1;36` bold and cyan; empty for none. */
export interface Span {
  text: string;
  sgr: string;
  /** Offset of the text in its source. A row that begins inside it adds its own offset. */
  at: number;
}

export const STYLE = {
  none: "",
  bold: "1",
  dim: "2",
  italic: "3",
  underline: "4",
  strike: "9",
  red: "31",
  green: "32",
  yellow: "33",
  cyan: "36",
  code: "36",
  heading: "1",
  title: "1;4",
} as const;

/** Renders text with styles, or without them for a terminal without colours. */
export type Paint = (sgr: string, text: string) => string;

export function painter(isColoured: boolean): Paint {
  return isColoured ? (sgr, text) => (sgr === "" || text === "" ? text : `\x1b[${sgr}m${text}\x1b[0m`) : (_, text) => text;
}

export function paintRow(paint: Paint, spans: readonly Span[]): string {
  return spans.map(({ sgr, text }) => paint(sgr, text)).join("");
}

const CONTROL = String.raw`(?:\x1b\[|\x9b)[\d;:?<=>!]*[ -/]*[@-~]`;
const TEXT = String.raw`(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)`;
const CHARSET = String.raw`\x1b[()#][0-9A-Za-z]`;
const SEQUENCE = new RegExp(`${CONTROL}|${TEXT}|${CHARSET}`, "g");

/** Makes a line of another program's text inert: removes escape sequences, and disarms broken ones. */
export function inertLine(line: string): string {
  return plain(line.replace(SEQUENCE, "").replace(/\r$/, "").replaceAll("\t", "    "));
}

/** Makes a program's output inert. Of a line overwritten by carriage returns, keeps the last version. */
export function inertLines(text: string): string[] {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => inertLine(line.replace(/\r$/, "").replace(/^.*\r/s, "")));
}
