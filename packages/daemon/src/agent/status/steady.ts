/**
 * What a screen shows beside its moving parts: spinners, clocks and seconds that count are drawn for ever by an agent that gets nothing done. A count
 * of tokens that rises is progress, and stays.
 */

/** Glyphs that agents turn as spinners, and dots that come and go behind a word. */
const SPINNERS = /[\u2800-\u28ff◐◓◑◒◴◷◶◵✢✳✶✻✽✺∗■⬝▪□●○◉◎]|[.…]{1,3}(?=\s|$)/gu;
/** `3s`, `1m 20s`, `2 min`, `12:34:56`, `350ms`. */
const TIMES = /\b\d+(?:[.,]\d+)?\s?(?:ms|s|m|h|sec|secs|min|mins|seconds?|minutes?|hours?)\b|\b\d{1,2}:\d{2}(?::\d{2})?\b/gi;
/** A line that says that it works: its words may be drawn at random, and only a count of tokens in it tells anything. */
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
