/**
 * Reads an agent's composer, by data of its profile, to detect a draft. The composer is found from the cursor: in all known agents the cursor is in
 * it, even if they hide it and draw their own. A transcript above may look the same.
 *
 * A composer counts as empty only without text or, with the cursor before the text, if the text is the agent's placeholder or drawn entirely as a
 * suggestion. In doubt it is a draft: that costs a wait, while the opposite mistake garbles a person's typing.
 */
import type { Screen } from "@holdfast/contract";
import { cellStyles } from "./cell-styles.ts";

export interface Composer {
  /** The characters before the text in its first row. */
  mark: RegExp;
  /** The same in the following rows. Default: blanks as wide as the mark, or an empty row. */
  more?: RegExp;
  /** The row above its first, and the row below its last. Default: any. */
  above?: RegExp;
  below?: RegExp;
  /** Number of rows at its end that are not text. */
  tail?: number;
  /** The agent's own text in an empty composer. */
  placeholder?: RegExp;
  /** Colours of suggestions, besides faint text. Other themes have other colours, so their suggestions count as drafts. */
  ghost?: readonly string[];
  /**
   * For an agent that hides the cursor below everything while its terminal has no focus, as in a session without attachments. The composer is then
   * below the last row of this kind, or framed by the last two.
   */
  unfocused?: RegExp;
  /** The agent shows the terminal's cursor, and hides it while something else takes the input. */
  cursor?: "shown";
}

export type Composed = { is: "empty" } | { is: "draft"; text: string };

/** Undefined: no composer takes input. */
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

/** The cursor. If the agent has put it away: the beginning of the composer's text, if there is a composer. */
function cursorIn({ unfocused, mark }: Composer, { lines, cursor }: Pick<Screen, "lines" | "cursor">): Screen["cursor"] | undefined {
  const isAway = !cursor.visible && cursor.x === 0 && lines.slice(cursor.y).every((line) => line.trim() === "");
  if (!unfocused || !isAway) return cursor;
  const y = lines.findLastIndex((line) => mark.test(line));
  const last = lines.findLastIndex((line) => unfocused.test(line));
  // A framed composer is between the last two such rows.
  const isFramed = y < last && unfocused.test(lines[y - 1] ?? "") && !lines.slice(y, last).some((line) => unfocused.test(line));
  if (last < 0 || (y <= last && !isFramed)) return undefined;
  return { x: mark.exec(lines[y] ?? "")?.[0].length ?? 0, y, visible: false };
}

interface TextRow {
  /** First column of its text. */
  x: number;
  y: number;
  text: string;
}

/** The composer's rows, around the cursor. */
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

/** Some agents mark the cursor's place with a zero-width space. */
function textOf(line: string, from: number): string {
  return line.slice(from).replaceAll("\u200b", "").trimEnd();
}

/** True if all text is drawn as a suggestion, except the cell under the cursor, which is drawn as the cursor. */
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
