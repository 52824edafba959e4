/** Whose text it is that a composer shows. */
import type { Composed } from "../agent/composer.ts";
import { whateverItsName } from "../agent/heading.ts";
import { asShown } from "./same-words.ts";

export type Holds = "nothing" | "ours" | "mixed" | "other" | "none";

/** A part that is shorter than this may be anybody's. */
const TELLING_PART = 20;

/** What all agents we know show for a long paste: `[Pasted text #1 +260 lines]`, `[Pasted Content 20079 chars] #2`, `[Pasted ~4 lines]`. */
const PASTED = /\[Pasted [^\]\n]+\]( #\d+)?/i;
const ONLY_PASTED = /^(\[Pasted [^\]\n]+\]( #\d+)?\s*)+$/i;

/** Once `ours` was put there: all of it, a telling part where there is no room for more, or what stands there for a long paste. */
export function whoseText(composed: Composed | undefined, ours: string): Holds {
  if (!composed) return "none";
  if (composed.is === "empty") return "nothing";
  if (PASTED.test(composed.text)) return ONLY_PASTED.test(composed.text) ? "ours" : "mixed";
  const [seen, whole] = [squashed(composed.text), squashed(ours)];
  // Some composers are read only as far as an empty line.
  if (seen === whole || seen === squashed(ours.trim().split(/\n\s*\n/)[0] ?? "") || isPartOf(seen, whole)) return "ours";
  // Where there is no room for the beginning, a heading is cut off in its middle.
  if (isPartOf(pressed(composed.text), pressed(ours))) return "ours";
  return whole !== "" && seen.includes(whole) ? "mixed" : "other";
}

function isPartOf(seen: string, whole: string): boolean {
  return seen.length >= TELLING_PART && whole.includes(seen);
}

function squashed(text: string): string {
  return whateverItsName(pressed(text));
}

/** Composers break lines where they like, and say so in their own ways. */
function pressed(text: string): string {
  return asShown(text).replaceAll(/[\s⏎…]+/g, "");
}
