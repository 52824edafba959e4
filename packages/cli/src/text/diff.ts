/**
 * A diff for a terminal. It contains text of agents, whose escape sequences could hide lines or reach the clipboard. Git's own colours could not be
 * told from theirs, so git prints none, and they are added here. For a pipe the diff stays as it is: it may be applied.
 */
import { type Color, color } from "./color.ts";
import { plain } from "./plain.ts";

export function diffText(diff: string, stream: { isTTY?: boolean } = process.stdout): string {
  if (stream.isTTY !== true) return diff;
  let isHead = false;
  const paint = (line: string): string => {
    if (line.startsWith("diff --git ")) isHead = true;
    if (line.startsWith("@@ ")) isHead = false;
    const shade = shadeOf(line, isHead);
    return shade === undefined ? inStat(line, stream) : color(shade, line, stream);
  };
  return diff.split("\n").map(harmless).map(paint).join("\n");
}

function shadeOf(line: string, isHead: boolean): Color | undefined {
  if (isHead) return "bold";
  if (line.startsWith("@@ ")) return "cyan";
  return line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : undefined;
}

/** ` a.txt | 3 ++-` of --stat. */
function inStat(line: string, stream: { isTTY?: boolean }): string {
  const [, name, added = "", removed = ""] = /^( \S.* \| +\d+ )(\+*)(-*)$/.exec(line) ?? [];
  if (name === undefined) return line;
  return name + (added && color("green", added, stream)) + (removed && color("red", removed, stream));
}

/** Keeps tabs, and the carriage return of a line from Windows. */
function harmless(line: string): string {
  const [text, end] = line.endsWith("\r") ? [line.slice(0, -1), "\r"] : [line, ""];
  return text.split("\t").map(plain).join("\t") + end;
}
