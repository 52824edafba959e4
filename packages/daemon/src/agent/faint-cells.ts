/**
 * Which cells of a screen are faint, read from its bytes: letters, colours and moves to the right, row by row, as both hosts give them. A row
 * whose letters are not those of its line (something was misread) has none.
 */
import type { Screen } from "@holdfast/contract";

/** A control sequence, a line's end, or a letter with what combines with it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what it reads
const TOKENS = /\x1b\[([?0-9;:]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b.|\r?\n|\r|(\P{M}\p{M}*)/gsu;

type Row = { letters: string[]; faint: boolean[] };

export function faintCells({ ansi, lines, columns }: Pick<Screen, "ansi" | "lines" | "columns">): (x: number, y: number) => boolean {
  const rows: Row[] = [];
  let row = newRow(rows);
  let faint = false;
  for (const [token, parameters = "", final, letter] of ansi.matchAll(TOKENS)) {
    if (token === "\n" || token === "\r\n") row = newRow(rows);
    else if (final === "m") faint = faintAfter(faint, parameters);
    else if (final === "C") for (let i = Number(parameters || 1); i > 0; i--) put(row, " ", false);
    else if (letter !== undefined) {
      // A row that the program's own text ran over has no end of line.
      if (row.letters.length >= columns) row = newRow(rows);
      put(row, letter, faint);
    }
  }
  return (x, y) => {
    const { letters, faint: cells } = rows[y] ?? { letters: [], faint: [] };
    return letters.join("").trimEnd() === lines[y] && cells[x] === true;
  };
}

function newRow(rows: Row[]): Row {
  const row: Row = { letters: [], faint: [] };
  rows.push(row);
  return row;
}

function put(row: Row, letter: string, faint: boolean): void {
  row.letters.push(letter);
  row.faint.push(faint);
}

/** 38 and 48 take the numbers behind them for a colour. */
function faintAfter(before: boolean, parameters: string): boolean {
  const numbers = parameters.split(/[;:]/).map(Number);
  let faint = before;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i];
    if (number === 38 || number === 48) i += numbers[i + 1] === 5 ? 2 : 4;
    else if (number === 2) faint = true;
    else if (number === 0 || number === 22) faint = false;
  }
  return faint;
}
