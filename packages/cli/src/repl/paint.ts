/** Text with a style, and rows of it. What an agent says becomes text here; only what is painted has escape sequences, and they are ours. */
import { plain } from "../plain.ts";

/** Parameters of SGR: `1` bold, `1;36` bold and cyan; empty: as it is. */
export interface Span {
  text: string;
  sgr: string;
  /** Where in its source the text begins; a row that begins inside it begins that much further on. */
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

/** How text is put on the screen: with styles, or, for a terminal that wants none, without. */
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

/** A line of somebody else's text: escape sequences are left out, what is left of broken ones cannot do anything. */
export function inertLine(line: string): string {
  return plain(line.replace(SEQUENCE, "").replace(/\r$/, "").replaceAll("\t", "    "));
}

/** Of something that a program drew: of what was written over itself, the last. */
export function inertLines(text: string): string[] {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => inertLine(line.replace(/\r$/, "").replace(/^.*\r/s, "")));
}
