/** Decides whose text a composer shows. */
import type { Composed } from "../agent/composer.ts";
import { whateverItsName } from "../agent/heading.ts";
import { asShown } from "./same-words.ts";

export type Holds = "nothing" | "ours" | "mixed" | "other" | "none";

/** A shorter part may be anybody's. */
const TELLING_PART = 20;

/** Placeholder that all known agents show for a long paste: `[Pasted text #1 +260 lines]`, `[Pasted Content 20079 chars] #2`, `[Pasted ~4 lines]`. */
const PASTED = /\[Pasted [^\]\n]+\]( #\d+)?/i;
const ONLY_PASTED = /^(\[Pasted [^\]\n]+\]( #\d+)?\s*)+$/i;

/** Compares with `ours` after it was pasted: the whole text, a distinctive part if the composer is too small, or the placeholder of a long paste. */
export function whoseText(composed: Composed | undefined, ours: string): Holds {
  if (!composed) return "none";
  if (composed.is === "empty") return "nothing";
  if (PASTED.test(composed.text)) return ONLY_PASTED.test(composed.text) ? "ours" : "mixed";
  const [seen, whole] = [squashed(composed.text), squashed(ours)];
  // Some composers are readable only up to an empty line.
  if (seen === whole || seen === squashed(ours.trim().split(/\n\s*\n/)[0] ?? "") || isPartOf(seen, whole)) return "ours";
  // If the beginning does not fit, a heading is cut off in its middle.
  if (isPartOf(pressed(composed.text), pressed(ours))) return "ours";
  return whole !== "" && seen.includes(whole) ? "mixed" : "other";
}

function isPartOf(seen: string, whole: string): boolean {
  return seen.length >= TELLING_PART && whole.includes(seen);
}

function squashed(text: string): string {
  return whateverItsName(pressed(text));
}

/** Composers break lines anywhere, and mark breaks in their own ways. */
function pressed(text: string): string {
  return asShown(text).replaceAll(/[\s⏎…]+/g, "");
}
