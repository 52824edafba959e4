/** Fits text to the cells of a terminal. */
import { plain } from "./plain.ts";

export function shortPath(path: string): string {
  const home = process.env.HOME;
  return plain(home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path);
}

export function cut(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  let kept = "";
  for (const character of text) {
    if (widthOf(kept + character) >= most) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Keeps the end of a path, which says more than its beginning. */
export function shortened(text: string, room: number): string {
  if (widthOf(text) <= room) return text;
  let kept = "";
  for (const character of [...text].reverse()) {
    if (1 + widthOf(character + kept) > room) break;
    kept = character + kept;
  }
  return `…${kept}`;
}

/** Latin letters and dashes: nearly every text. Compiling the Unicode classes below costs more CPU than a table of a hundred sessions. */
const NARROW = /^[\x20-\x7e\xa0-\u02ff\u2010-\u2027]*$/;

/** Cells a text takes: two for East Asian wide characters and emoji, none for combining ones. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (/\p{M}|\u200d/u.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
