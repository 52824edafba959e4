/**
 * The bottom of the terminal: rows that are redrawn (the current answer, the status, the input line), below text that is written once and
 * scrolls into the terminal's own history.
 *
 * Each frame is one write: it erases the old rows, writes finished lines in their place, and the new rows below. Rows fit the width they were
 * drawn for. If the terminal has become narrower since, it has wrapped them, and accordingly more rows are erased.
 */
import { widthOf } from "../text/fit.ts";

export interface Output {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

export interface FootView {
  rows: string[];
  /** The cursor's position, counted from the first row. */
  cursor: { row: number; column: number };
}

const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?25h\x1b[?2026l";

export class Foot {
  readonly #output: Output;
  #shown: FootView = { rows: [], cursor: { row: 0, column: 0 } };

  constructor(output: Output) {
    this.#output = output;
  }

  /** Writes finished `lines`, then draws `view`. */
  draw(lines: readonly string[], view: FootView): void {
    const { columns, rows: height } = this.#output;
    const dropped = Math.max(0, view.rows.length - Math.max(1, height - 1));
    const rows = view.rows.slice(dropped).map((row) => cutRow(row, columns));
    const cursor = { row: Math.max(0, view.cursor.row - dropped), column: Math.min(view.cursor.column, Math.max(0, columns - 1)) };
    const above = lines.map((line) => `${line}\r\n`).join("");
    const up = rows.length - 1 - cursor.row;
    const place = `\r${up > 0 ? `\x1b[${up}A` : ""}${cursor.column > 0 ? `\x1b[${cursor.column}C` : ""}`;
    this.#output.write(`${BEGIN}${this.#erase()}${above}${rows.join("\r\n")}${place}${END}`);
    this.#shown = { rows, cursor };
  }

  /** Removes the rows, so that other output can take their place. */
  clear(): void {
    this.#output.write(this.#erase());
    this.#shown = { rows: [], cursor: { row: 0, column: 0 } };
  }

  /** Clears the screen. Its content has scrolled away, or will be written again. */
  wipe(): void {
    this.#output.write("\x1b[H\x1b[2J");
    this.#shown = { rows: [], cursor: { row: 0, column: 0 } };
  }

  #erase(): string {
    const { rows, cursor } = this.#shown;
    if (rows.length === 0) return "\r\x1b[J";
    const columns = Math.max(1, this.#output.columns);
    const above = rows.slice(0, cursor.row).reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOfRow(row) / columns)), 0);
    const up = above + Math.floor(cursor.column / columns);
    return `\r${up > 0 ? `\x1b[${up}A` : ""}\x1b[J`;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles
const STYLE = /(\x1b\[[\d;]*m)/g;

export function widthOfRow(row: string): number {
  return widthOf(row.replace(STYLE, ""));
}

/** Cuts a row that does not fit: it would take two rows, but be erased as one. */
function cutRow(row: string, columns: number): string {
  if (widthOfRow(row) <= columns) return row;
  let width = 0;
  let kept = "";
  // Odd parts are styles.
  for (const [index, part] of row.split(STYLE).entries()) {
    if (index % 2 === 1) {
      kept += part;
      continue;
    }
    for (const character of part) {
      width += widthOf(character);
      if (width <= columns) kept += character;
    }
  }
  return kept;
}
