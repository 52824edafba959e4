/** A word that completes the line, and what it is; "" if there is nothing to say. Printed as the shells' scripts read them. */

import { cut, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";

export interface Candidate {
  word: string;
  about: string;
}

/** A shell's menu has a line for each candidate. */
const LONGEST_ABOUT = 80;

export function bare(words: Iterable<string>): Candidate[] {
  return [...words].map((word) => ({ word, about: "" }));
}

/** One candidate per line: `word`, a tab, and its description. zsh and fish align them. */
export function describedLines(found: readonly Candidate[]): string[] {
  return found.map(({ word, about }) => (about === "" ? word : `${word}\t${cut(oneLine(about), LONGEST_ABOUT)}`));
}

/**
 * The list that bash prints, aligned for a terminal of this width. bash inserts the common beginning of these lines, which is that of the words:
 * where one word ends, its line has a space. A single line would be inserted whole, so it gets no description.
 */
export function listedLines(found: readonly Candidate[], columns: number): string[] {
  if (found.length < 2) return found.map(({ word }) => word);
  const width = Math.max(...found.map(({ word }) => widthOf(word)));
  const room = columns - width - 5;
  if (room < 10) return found.map(({ word }) => word);
  return found.map(({ word, about }) =>
    about === "" ? word : `${word}${" ".repeat(width - widthOf(word))}  (${cut(oneLine(about), Math.min(room, LONGEST_ABOUT))})`,
  );
}

function oneLine(text: string): string {
  return plain(text.replaceAll(/\s+/g, " "));
}
