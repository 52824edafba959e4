/** A change to a file as lines with a sign. */
import { inertLine, type Paint, STYLE } from "./paint.ts";

/** Comparing costs the product of both lengths; above this limit all lines count as changed. */
const MOST_COMPARED = 250_000;
const AROUND = 2;

export interface Change {
  path: string;
  old: string | null;
  new: string;
}

type Line = { sign: " " | "+" | "-"; text: string };

export function countChange(change: Change): { added: number; removed: number } {
  const lines = compare(change);
  return { added: lines.filter(({ sign }) => sign === "+").length, removed: lines.filter(({ sign }) => sign === "-").length };
}

/** Of unchanged lines, shows only those around a change. */
export function diffLines(change: Change, paint: Paint): string[] {
  const lines = compare(change);
  const isNear = lines.map((_, index) => lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ sign }) => sign !== " "));
  const shown: string[] = [];
  for (const [index, { sign, text }] of lines.entries()) {
    if (!isNear[index]) {
      if (index > 0 && isNear[index - 1]) shown.push(paint(STYLE.dim, "  …"));
      continue;
    }
    const sgr = sign === "+" ? STYLE.green : sign === "-" ? STYLE.red : STYLE.dim;
    shown.push(paint(sgr, `${sign} ${inertLine(text)}`));
  }
  if (shown.at(-1)?.includes("…") && !isNear.at(-1)) shown.pop();
  return shown;
}

function compare(change: Change): Line[] {
  const before = linesOf(change.old ?? "");
  const after = linesOf(change.new);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: " ", text }));
  const middle = between(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...same(before.slice(0, start)), ...middle, ...same(end === 0 ? [] : before.slice(-end))];
}

/** Aligns by the longest common subsequence of lines. */
function between(before: readonly string[], after: readonly string[]): Line[] {
  const removed = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: "-", text }));
  const added = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: "+", text }));
  if (before.length * after.length > MOST_COMPARED) return [...removed(before), ...added(after)];
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    const row = lengths[i] as Uint32Array;
    for (let j = after.length - 1; j >= 0; j--)
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push({ sign: " ", text: before[i] as string });
      i++;
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push({ sign: "-", text: before[i++] as string });
    else lines.push({ sign: "+", text: after[j++] as string });
  }
  return [...lines, ...removed(before.slice(i)), ...added(after.slice(j))];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
