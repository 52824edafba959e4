import { CONTEXT_FILES, type ContextFileName } from "@holdfast/contract/context/enums";
import { expect, test } from "vitest";
import { asMarkdown } from "./markdown.ts";

function context(texts: Partial<Record<ContextFileName, string>>, more: { cut?: boolean } = {}) {
  const files = CONTEXT_FILES.map((name) => {
    const text = texts[name];
    const state = text === undefined ? ("empty" as const) : ("written" as const);
    return { name, path: `/app/${name}`, state, text: text ?? "# T\n\nline\n", bytes: 1, cut: false, digest: "", changedAt: null, ...more };
  });
  return asMarkdown({ root: "/home/me/app", directory: "/home/me/app/.holdfast/context", exists: true, files });
}

test("the files become one document with their headings one level deeper, and empty files are named", () => {
  expect(
    context({ "background.md": "# Background\n\nwhy\n\n## Detail\n", "plan.md": "# Plan\n- [ ] one\n" }),
  ).toBe(`# Working Context of app

## Background

why

### Detail

## Plan
- [ ] one

*Nothing yet in working-log.md, results-summary.md.*
`);
});

test("a file without a title gets one, and its headings come below it", () => {
  expect(context({ "working-log.md": "just words\n\n# One\n## Two" })).toContain("## Working log\n\njust words\n\n### One\n#### Two\n");
  expect(context({ "working-log.md": "just words\n\n### Three" })).toContain("## Working log\n\njust words\n\n### Three\n");
});

test("text that only looks like a heading is unchanged: code, deep headings, hashes without a space, rules", () => {
  const text = "# T\n\n```sh\n# a comment\n````\n~~~ still inside\n```\n\n###### Six\n#hashtag\n\n---\n\n- item\n---\n";
  const shifted = context({ "plan.md": text });
  expect(shifted).toContain("```sh\n# a comment\n````\n");
  expect(shifted).toContain("###### Six\n#hashtag\n\n---\n\n- item\n---\n");
});

test("underlined headings count as headings", () => {
  const shifted = context({ "plan.md": "Title\n=====\n\nwords\n\nPart\n----\n" });
  expect(shifted).toContain("## Title\n\nwords\n\n### Part\n");
  expect(shifted).not.toContain("====");
});

test("a file that is cut names the path of the rest", () => {
  expect(context({ "plan.md": "# Plan\nlong" }, { cut: true })).toContain("*More in /app/plan.md.*");
});
