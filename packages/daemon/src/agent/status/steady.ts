/**
 * Reduces a screen to its steady parts. A hung agent still draws spinners, clocks and counters of seconds, so these are removed. A rising token count
 * is progress and stays.
 */

/** Glyphs of spinners, and dots that come and go after a word. */
const SPINNERS = /[\u2800-\u28ff◐◓◑◒◴◷◶◵✢✳✶✻✽✺∗■⬝▪□●○◉◎]|[.…]{1,3}(?=\s|$)/gu;
/** `3s`, `1m 20s`, `2 min`, `12:34:56`, `350ms`. */
const TIMES = /\b\d+(?:[.,]\d+)?\s?(?:ms|s|m|h|sec|secs|min|mins|seconds?|minutes?|hours?)\b|\b\d{1,2}:\d{2}(?::\d{2})?\b/gi;
/** A status line of a working agent. Its words may be random, so only a token count in it is kept. */
const STATUS = /\besc (?:to )?(?:cancel|interrupt)\b|ctrl\+c to (?:cancel|interrupt|stop)|\bthinking\b(?:\.{3}|…)|\bretrying in\b/i;
const SPINS = /^\s*[\u2800-\u28ff◐◓◑◒✢✳✶✻✽✺∗·*]\s.*(?:…|\.{3})/u;
const TOKENS = /[\d.,]+\s?k?\s+tokens?\b/gi;

export function steady(lines: readonly string[]): string {
  return lines
    .map(steadyLine)
    .filter((line) => line !== "")
    .join("\n");
}

function steadyLine(line: string): string {
  if (STATUS.test(line) || SPINS.test(line)) return (line.match(TOKENS) ?? []).join(" ");
  return line.replaceAll(TIMES, "").replaceAll(SPINNERS, "").replaceAll(/\s+/g, " ").trim();
}
