/**
 * What stands in an agent's composer, by data of its profile: whether somebody has half typed something there. It is found from the cursor,
 * which is in the composer of all agents we know, also where they hide it and draw their own; a transcript above may look the same.
 *
 * Only what is known to be no draft counts as empty: no text, or, with the cursor before it, the agent's own words or text that is drawn all
 * over as suggestions are. In doubt it is a draft, which costs a wait; the other mistake garbles what a person types.
 */
import type { Screen } from "@holdfast/contract";
import { cellStyles } from "./cell-styles.ts";

export interface Composer {
  /** What stands before the text in its first row. */
  mark: RegExp;
  /** The same in the rows that follow; without: room, as much as the mark takes, or nothing at all. */
  more?: RegExp;
  /** The row above its first one, and the row below its last; without: any. */
  above?: RegExp;
  below?: RegExp;
  /** So many rows at its end are no text. */
  tail?: number;
  /** What an empty one says, in the agent's own words. */
  placeholder?: RegExp;
  /** Besides faint: colours in which it shows what nobody typed. Another theme has others, and what is shown there counts as a draft. */
  ghost?: readonly string[];
  /**
   * It puts the cursor, hidden, below everything while its terminal does not have the focus, as that of a session that nobody is attached to:
   * then the composer is below the last row of this kind, or in a frame of the last two.
   */
  unfocused?: RegExp;
  /** It shows the terminal's cursor, which is hidden while something else takes what is typed. */
  cursor?: "shown";
}

export type Composed = { is: "empty" } | { is: "draft"; text: string };

/** undefined: there is no composer that takes what is typed. */
export function readComposer(composer: Composer, seen: Pick<Screen, "lines" | "ansi" | "cursor" | "columns">): Composed | undefined {
  const cursor = cursorIn(composer, seen);
  if (!cursor) return undefined;
  const screen = { ...seen, cursor };
  if (composer.cursor === "shown" && !cursor.visible) return undefined;
  const rows = rowsOf(composer, screen);
  if (!rows) return undefined;
  const text = rows
    .map((row) => row.text)
    .join("\n")
    .trim();
  if (text === "") return { is: "empty" };
  const before = rows.filter(({ y }) => y <= cursor.y).map((row) => (row.y < cursor.y ? row.text : row.text.slice(0, cursor.x - row.x)));
  const ours = before.join("").trim() === "" && (composer.placeholder?.test(text) || isGhost(composer, rows, screen));
  return ours ? { is: "empty" } : { is: "draft", text };
}

/** Of an agent that has put its cursor away: where its composer's text begins, if there is one. */
function cursorIn({ unfocused, mark }: Composer, { lines, cursor }: Pick<Screen, "lines" | "cursor">): Screen["cursor"] | undefined {
  const isAway = !cursor.visible && cursor.x === 0 && lines.slice(cursor.y).every((line) => line.trim() === "");
  if (!unfocused || !isAway) return cursor;
  const y = lines.findLastIndex((line) => mark.test(line));
  const last = lines.findLastIndex((line) => unfocused.test(line));
  // In a frame of such rows it is between the last two.
  const isFramed = y < last && unfocused.test(lines[y - 1] ?? "") && !lines.slice(y, last).some((line) => unfocused.test(line));
  if (last < 0 || (y <= last && !isFramed)) return undefined;
  return { x: mark.exec(lines[y] ?? "")?.[0].length ?? 0, y, visible: false };
}

interface TextRow {
  /** Where its text begins. */
  x: number;
  y: number;
  text: string;
}

/** The rows around the cursor that are the composer's. */
function rowsOf(composer: Composer, { lines, cursor }: Pick<Screen, "lines" | "cursor">): TextRow[] | undefined {
  const at = (y: number) => lines[y] ?? "";
  const begins = (y: number) => composer.mark.test(at(y)) && (!composer.above || composer.above.test(at(y - 1)));
  let first = cursor.y;
  while (first >= 0 && !begins(first)) {
    if (!goesOn(composer, at(first))) return undefined;
    first--;
  }
  const mark = composer.mark.exec(at(first))?.[0];
  if (mark === undefined) return undefined;
  const rows: TextRow[] = [{ x: mark.length, y: first, text: textOf(at(first), mark.length) }];
  const ends = (y: number) => !goesOn(composer, at(y)) || (y > cursor.y && composer.below?.test(at(y)));
  for (let y = first + 1; y < lines.length && !ends(y); y++) {
    const x = composer.more?.exec(at(y))?.[0].length ?? mark.length;
    rows.push({ x, y, text: textOf(at(y), x) });
  }
  const end = (rows.at(-1)?.y ?? first) + 1;
  if (end <= cursor.y || (composer.below && !composer.below.test(at(end)))) return undefined;
  return rows.slice(0, rows.length - (composer.tail ?? 0));
}

function goesOn({ more }: Composer, line: string): boolean {
  return more ? more.test(line) : /^(\s|$)/.test(line);
}

/** Some mark the cursor's place with a space of no width. */
function textOf(line: string, from: number): string {
  return line.slice(from).replaceAll("\u200b", "").trimEnd();
}

/** All of it, but for the cell under the cursor, which is drawn as one. */
function isGhost(
  { ghost = [] }: Composer,
  rows: readonly TextRow[],
  screen: Pick<Screen, "lines" | "ansi" | "cursor" | "columns">,
): boolean {
  const styleAt = cellStyles(screen);
  const cells = rows.flatMap(({ x, y, text }) => [...text].map((letter, i) => ({ letter, x: x + i, y })));
  const seen = cells.filter(({ letter, x, y }) => letter.trim() !== "" && !(x === screen.cursor.x && y === screen.cursor.y));
  const isOurs = ({ x, y }: { x: number; y: number }) => {
    const style = styleAt(x, y);
    return style !== undefined && (style.faint || ghost.includes(style.colour));
  };
  return seen.length > 0 && seen.every(isOurs);
}
