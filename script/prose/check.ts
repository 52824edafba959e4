/** Reads the texts of the repository and finds sentences that break a rule. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Counts } from "./baseline.ts";
import { RULES, type Rule } from "./rules.ts";
import { type Sentence, sentencesInMarkdown, sentencesInSource } from "./sentences.ts";

export interface Violation extends Sentence {
  file: string;
  rule: Rule;
  found: string;
}

const MARKDOWN = ["*.md", "docs/**/*.md", "agents/*.md", "examples/*.md"];
const SOURCE = ["packages/*/src/**/*.ts"];

/** All violations below `root`, and the number of sentences read of each kind. */
export function checkProse(root: string): { violations: Violation[]; read: Record<"markdown" | "source", number> } {
  const read = { markdown: 0, source: 0 };
  const violations: Violation[] = [];
  for (const [kind, patterns, sentencesIn] of [
    ["markdown", MARKDOWN, sentencesInMarkdown],
    ["source", SOURCE, sentencesInSource],
  ] as const) {
    for (const file of globSync(patterns, { cwd: root }).sort()) {
      if (/\.test\.ts$|\/fixtures\//.test(file)) continue;
      const sentences = sentencesIn(readFileSync(path.join(root, file), "utf8"));
      read[kind] += sentences.length;
      violations.push(...sentences.flatMap((sentence) => violationsIn(file, sentence)));
    }
  }
  return { violations, read };
}

function violationsIn(file: string, sentence: Sentence): Violation[] {
  return RULES.flatMap((rule) => {
    const found = rule.find(sentence.text);
    return found === undefined ? [] : [{ ...sentence, file, rule, found }];
  });
}

export function countsOf(violations: readonly Violation[]): Counts {
  const counts: Counts = {};
  for (const { file, rule } of violations) {
    counts[file] ??= {};
    counts[file][rule.name] = (counts[file][rule.name] ?? 0) + 1;
  }
  return counts;
}

export function lineOf({ file, line, text, rule, found }: Violation): string {
  return `${file}:${line}: ${text}\n    ${rule.name} (“${found}”): write ${rule.write}`;
}
