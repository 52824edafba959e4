import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { above, lowered } from "./baseline.ts";
import { checkProse, countsOf, lineOf } from "./check.ts";
import { RULES } from "./rules.ts";
import { sentencesInMarkdown, sentencesInSource } from "./sentences.ts";

/** One sentence for each rule that must turn the check red. */
const PLANTED: Record<string, string> = {
  "sentence length": `A session ${"keeps running and ".repeat(12)}never ends.`,
  "bare opening": "What nothing tells is unknown.",
  leave: "Agents ask leave for commands.",
  "goes on": "The session goes on.",
  anew: "The daemon starts anew.",
  "by itself": "The connection comes back by itself.",
  "far and near": "The far end is gone.",
  "told of": "The agent is told of the change.",
  "pronoun for a noun": "A column shows what it waits for.",
  "let go": "The host lets go of the session.",
  "nobody sets": "Time is measured with a clock that nobody sets.",
  "nobody to ask": "The command stops where there is nobody to ask.",
  room: "The command shows the room on disk.",
  "passes nothing on": "The command passes nothing on.",
  "old word": "The agent shall stop.",
  inverted: "With its session ends what an agent has asked.",
  passive: "A run is started by the daemon.",
};

test("every rule has a planted violation, and finds it in Markdown and in source", () => {
  expect(Object.keys(PLANTED).sort()).toEqual(RULES.map(({ name }) => name).sort());
  for (const [rule, sentence] of Object.entries(PLANTED)) {
    const root = repository({
      "docs/guides/x.md": `# Title\n\nA plain sentence. ${sentence}\n`,
      "packages/cli/src/x.ts": errorWith(sentence),
    });
    const { violations } = checkProse(root);
    const found = violations.filter((each) => each.rule.name === rule).map(({ file, line, text }) => [file, line, text]);
    expect(found).toEqual([
      ["docs/guides/x.md", 3, sentence],
      ["packages/cli/src/x.ts", 1, sentence],
    ]);
  }
});

test("plain sentences pass, and the number of sentences read is known", () => {
  const plain = "A session keeps running. It reports its status. What is a session?";
  const root = repository({ "README.md": plain, "packages/cli/src/x.ts": errorWith(plain) });
  expect(checkProse(root)).toEqual({ violations: [], read: { markdown: 3, source: 3 } });
  expect(checkProse(repository({})).read).toEqual({ markdown: 0, source: 0 });
});

test("a failure names the file, the line, the sentence, the rule and how to write it", () => {
  const [violation] = checkProse(repository({ "README.md": "# One\n\nTwo lines\nhere. The session\ngoes on.\n" })).violations;
  expect(violation && lineOf(violation)).toBe(
    "README.md:4: The session goes on.\n    goes on (“goes on”): write “continue” or “keep running”",
  );
});

test("Markdown is read without code, addresses and marks; cells and items stand alone", () => {
  const source =
    "Run `a b` **now** in [the docs](http://x.y/z).\n\n```sh\nit goes on here\n```\n\n- one item\n- two items\n\n| first cell | second cell |\n|---|---|\n\n[the docs]: http://x.y/z\n";
  expect(sentencesInMarkdown(source).map(({ text }) => text)).toEqual([
    "Run CODE now in the docs.",
    "one item",
    "two items",
    "first cell",
    "second cell",
  ]);
});

test("source is read where a text is for people, and nowhere else", () => {
  const source = `const sql = "select what goes on";
export const command = {
  summary: "list all sessions",
  flags: { all: { summary: isNew ? "also the ended" : "also the old" } },
  examples: [["holdfast ls", "all of them"]],
};
throw new HoldfastError("usage", \`no session \${name} here\`, { hint: "list them: " + "holdfast ls" });`;
  expect(sentencesInSource(source)).toEqual([
    { line: 3, text: "list all sessions" },
    { line: 4, text: "also the ended" },
    { line: 4, text: "also the old" },
    { line: 5, text: "holdfast ls" },
    { line: 5, text: "all of them" },
    { line: 7, text: "no session X here" },
    { line: 7, text: "list them: holdfast ls" },
  ]);
});

test("paragraphs, indented lines and sentences that begin with a flag stand alone", () => {
  const source = String.raw`export const command = { description: "Lists sessions. --all adds more.\n\n  done  it ended\n  lost  it vanished" };`;
  expect(sentencesInSource(source).map(({ text }) => text)).toEqual([
    "Lists sessions.",
    "--all adds more.",
    "done it ended",
    "lost it vanished",
  ]);
});

test("more violations than the baseline allows fail; fewer do not", () => {
  const baseline = { "a.md": { anew: 2 }, "b.md": { leave: 1 } };
  expect(above({ "a.md": { anew: 1 }, "b.md": { leave: 1 } }, baseline)).toEqual([]);
  expect(above({ "a.md": { anew: 3, leave: 1 }, "c.md": { anew: 1 } }, baseline)).toEqual([
    { file: "a.md", rule: "anew", allowed: 2 },
    { file: "a.md", rule: "leave", allowed: 0 },
    { file: "c.md", rule: "anew", allowed: 0 },
  ]);
});

test("the baseline only shrinks; a renamed file takes over the count of its old name", () => {
  const baseline = { "a.md": { anew: 2 }, "gone.md": { leave: 2 } };
  const found = { "a.md": { anew: 5 }, "new.md": { anew: 1, leave: 3 } };
  const next = lowered(baseline, found, (file) => file !== "gone.md");
  expect(next).toEqual({ "a.md": { anew: 2 }, "new.md": { leave: 2 } });
  expect(lowered(next, { "a.md": { anew: 1 } }, () => true)).toEqual({ "a.md": { anew: 1 } });
});

test("this repository has texts of both kinds to read", () => {
  const { read, violations } = checkProse(path.join(import.meta.dirname, "../.."));
  expect(read.markdown).toBeGreaterThan(1000);
  expect(read.source).toBeGreaterThan(1000);
  expect(Object.keys(countsOf(violations))).not.toContain("script/prose/prose.test.ts");
});

function errorWith(text: string): string {
  return `throw new HoldfastError("usage", ${JSON.stringify(text)});\n`;
}

function repository(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), "prose-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}
