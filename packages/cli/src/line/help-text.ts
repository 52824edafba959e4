/** Wraps help to the width of the terminal. */

/** Help stays readable on wide terminals, and usable on narrow ones. */
const WIDEST = 100;
const NARROWEST = 40;

export function helpWidth({ isTTY, columns }: { isTTY?: boolean; columns?: number } = process.stdout): number {
  return isTTY && columns ? Math.min(WIDEST, Math.max(NARROWEST, columns)) : WIDEST;
}

/** Paragraphs are separated by a blank line. Indented lines are samples of a file and stay as they are. */
export function paragraphs(text: string, width: number): string[] {
  return text.split("\n\n").flatMap((paragraph, index) => {
    const lines = paragraph.startsWith(" ") ? paragraph.split("\n") : wrapWords(paragraph.split(/\s+/), { first: 0, rest: 0, width });
    return index === 0 ? lines : ["", ...lines];
  });
}

/** Breaks a usage line between `[…]` groups, and inside a group only if it is longer than a line. */
export function usageLines(text: string, width: number): string[] {
  const groups = usageGroups(text).flatMap((group) => (group.length > width - 6 ? group.split(" ") : [group]));
  return wrapWords(groups, { first: 2, rest: 6, width });
}

/** Two columns, with the right one wrapped. On a narrow terminal the right one moves below the left one. */
export function twoColumns(rows: readonly (readonly [left: string, right: string])[], width: number): string[] {
  const column = Math.max(...rows.map(([left]) => left.length)) + 4;
  const isBelow = width - column < NARROWEST / 2;
  return rows.flatMap(([left, right]) => {
    const indent = isBelow ? 10 : column;
    const [first = "", ...more] = wrapWords(right.split(" "), { first: indent, rest: indent, width });
    return isBelow ? [`  ${left}`, first, ...more] : [`  ${left.padEnd(column - 4)}  ${first.slice(indent)}`, ...more];
  });
}

export function wrapWords(words: readonly string[], { first, rest, width }: { first: number; rest: number; width: number }): string[] {
  const lines: string[] = [];
  let line = " ".repeat(first);
  let isEmpty = true;
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = " ".repeat(rest);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

function usageGroups(text: string): string[] {
  const groups: string[] = [];
  let depth = 0;
  for (const word of text.split(" ")) {
    if (depth > 0) groups.push(`${groups.pop()} ${word}`);
    else groups.push(word);
    depth += word.split("[").length - word.split("]").length;
  }
  return groups;
}
