/** A Working Context as one markdown document: a title, and below it each file with its headings one level deeper. */
import { basename } from "node:path";
import type { WorkingContext } from "@holdfast/contract/context/context";

const TITLES: Readonly<Record<string, string>> = {
  "background.md": "Background",
  "plan.md": "Plan",
  "working-log.md": "Working log",
  "results-summary.md": "Results",
};

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^( {0,3})(#{1,6})(?=\s|$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** Lines that an underline does not turn into a heading: a list, a quote, a heading, a table row, code. */
const NO_PARAGRAPH = /^( {4}|\t| {0,3}([-*+>#|]|\d+[.)]))|^\s*$/;
const DEEPEST = 6;

export function asMarkdown({ root, files }: WorkingContext): string {
  const written = files.filter(({ state }) => state === "written");
  const rest = files.filter(({ state }) => state !== "written").map(({ name }) => name);
  return [
    `# Working Context of ${basename(root)}`,
    ...written.map(({ name, text, cut, path }) => section(TITLES[name] ?? name, text) + (cut ? `\n\n*More in ${path}.*` : "")),
    ...(rest.length === 0 ? [] : [`*Nothing yet in ${rest.join(", ")}.*`]),
  ]
    .map((part) => `${part}\n`)
    .join("\n");
}

/** Adds a title unless the text begins with one. */
function section(title: string, text: string): string {
  const lines = atxLines(text.trim().split(/\r?\n/));
  const levels = lines.filter(({ heading }) => heading).map(({ line }) => HEADING.exec(line)?.[2]?.length ?? 1);
  const isTitled = lines[0]?.heading === true && levels[0] === 1;
  const by = isTitled ? 1 : 3 - Math.min(3, ...levels);
  const body = lines.map(({ line, heading }) => (heading ? deeper(line, by) : line)).join("\n");
  return isTitled ? body : `## ${title}\n\n${body}`;
}

function deeper(line: string, by: number): string {
  return line.replace(HEADING, (_, indent: string, marks: string) => indent + "#".repeat(Math.min(DEEPEST, marks.length + by)));
}

/** Marks headings, and converts underlined ones to `#` form. Lines in code blocks are not headings. */
function atxLines(lines: readonly string[]): { line: string; heading: boolean }[] {
  const found: { line: string; heading: boolean }[] = [];
  let fence: string | undefined;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      found.push({ line, heading: false });
      continue;
    }
    const before = found.at(-1);
    const underline = UNDERLINE.exec(line)?.[1];
    if (underline && before && !before.heading && !NO_PARAGRAPH.test(before.line)) {
      found[found.length - 1] = { line: `${underline.startsWith("=") ? "#" : "##"} ${before.line.trim()}`, heading: true };
      continue;
    }
    fence = mark;
    found.push({ line, heading: mark === undefined && HEADING.test(line) });
  }
  return found;
}
