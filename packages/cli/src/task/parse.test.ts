import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTaskFile } from "./parse.ts";

const bytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const parse = (text: string) => parseTaskFile("tasks.md", bytes(text));
const faults = (text: string): string[] => {
  try {
    parse(text);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: "task_file_invalid" });
    return (error as Error).message.split("\n");
  }
};

test("a plain checklist is a list of one-turn tasks (TURN-04 conversations)", () => {
  const items = parse("# Plan\n\n- [ ] Write the tests\n- [x] Read the code\n* [X] Third\n+ [ ] Fourth\n");
  expect(items.map(({ label, line, done, title, turns }) => ({ label, line, done, title, turns }))).toEqual([
    { label: "1", line: 3, done: false, title: "Write the tests", turns: ["Write the tests"] },
    { label: "2", line: 4, done: true, title: "Read the code", turns: ["Read the code"] },
    { label: "3", line: 5, done: true, title: "Third", turns: ["Third"] },
    { label: "4", line: 6, done: false, title: "Fourth", turns: ["Fourth"] },
  ]);
});

test("an annotation in a code span is text", () => {
  const [item] = parse("- [ ] Explain `<!-- agent: X -->` in the guide <!-- agent: demo -->\n  as in `<!-- turns: 3 -->`\n");
  expect(item).toMatchObject({
    agent: "demo",
    title: "Explain `<!-- agent: X -->` in the guide",
    turns: ["Explain `<!-- agent: X -->` in the guide\n\nas in `<!-- turns: 3 -->`"],
  });
});

test("an item has an agent and turns, and the first turn includes its title (TURN-04 conversations)", () => {
  const [item] = parse(`<!-- tasks-with-context.md -->
- [ ] 1. Analyze authentication code for security issues
  <!-- agent: security-expert -->
  <!-- turns: 3 -->

  Turn 1: Initial analysis
  Turn 2: Deep dive on JWT handling
    and on sessions
  Turn 3: Generate remediation plan
`);
  expect(item).toMatchObject({
    label: "1",
    agent: "security-expert",
    title: "Analyze authentication code for security issues",
    turns: [
      "Analyze authentication code for security issues\n\nInitial analysis",
      "Deep dive on JWT handling\nand on sessions",
      "Generate remediation plan",
    ],
  });
});

test("indented text below an item is sent to the agent, dedented and without annotations", () => {
  const [item, next] = parse(`- [ ] Fix it <!-- model: opus --> soon
    Look at:
      - [ ] the login
      - the session

    \`\`\`ts
    // <!-- agent: nobody -->
    - [ ] no item
    \`\`\`
    <!-- a comment
    - [ ] no item either
    -->
- [ ] Next
`);
  expect(item?.model).toBe("opus");
  expect(item?.title).toBe("Fix it soon");
  expect(item?.turns[0]).toContain("Look at:\n  - [ ] the login\n  - the session\n\n```ts\n// <!-- agent: nobody -->\n- [ ] no item\n```");
  expect(item?.agent).toBeUndefined();
  expect(next).toMatchObject({ label: "2", title: "Next" });
});

test("a paragraph and a heading end an item, while annotations and turns after blank lines still belong to it", () => {
  const items = parse(
    "- [ ] 1. One\n\n<!-- agent: demo -->\n\nTurn 1: begin\n\nA paragraph.\n\n## More\n\ntext\n\n- [ ] 2. Two\nlazy words\n",
  );
  expect(items.map(({ turns, agent }) => [turns, agent])).toEqual([
    [["One\n\nbegin"], "demo"],
    [["Two\n\nlazy words"], undefined],
  ]);
});

test("a number of turns without texts becomes prompts to continue", () => {
  const [item] = parse("- [ ] Refactor\n  <!-- turns: 3 -->\n");
  expect(item?.turns).toEqual(["Refactor", "Continue. This is turn 2 of 3.", "Continue. This is turn 3 of 3."]);
});

test("annotations above the first item apply to all items that do not override them", () => {
  const items = parse("<!-- agent: claude --> <!-- budget: $2 -->\n- [ ] a\n- [ ] b <!-- agent: codex -->\n");
  expect(items.map(({ agent, budget }) => [agent, budget])).toEqual([
    ["claude", { cost: 2 }],
    ["codex", { cost: 2 }],
  ]);
});

test("items wait for others by number: of the text, of the list, or by position", () => {
  const labels = (text: string) => parse(text).map(({ label, after }) => [label, after.map((each) => each.line)]);
  expect(labels("- [ ] 1. a\n- [ ] 2) b <!-- after: 1 -->\n- [ ] 2.1 c <!-- after: 1, 2 -->\n")).toEqual([
    ["1", []],
    ["2", [1]],
    ["2.1", [1, 2]],
  ]);
  expect(parse("- [ ] 3 bugs in login\n")[0]).toMatchObject({ label: "1", title: "3 bugs in login" });
  expect(labels("3. [ ] a\n4. [ ] b <!-- after: 3 -->\n")).toEqual([
    ["3", []],
    ["4", [1]],
  ]);
  expect(labels("- [ ] a\n- [ ] b <!-- after: 1 -->\n")).toEqual([
    ["1", []],
    ["2", [1]],
  ]);
});

describe("a fault has its file, its line and the expected form", () => {
  test.each([
    ["", "tasks.md:1: the file has no items; expected a line such as: - [ ] 1. Write the missing tests"],
    ["# Nothing\n- a list\n", "tasks.md:1: the file has no items"],
    ["- [ ] a\n- [] b\n", "tasks.md:2: not a valid checkbox; expected - [ ] and a space"],
    ["-[ ] a\n", "tasks.md:1: not a valid checkbox"],
    ["- [ ]a\n", "tasks.md:1: not a valid checkbox"],
    ["- [x ] a\n", "tasks.md:1: not a valid checkbox"],
    ["- [ ] \n", "tasks.md:1: the item has no text; expected the task after the box"],
    ["- [ ] 1. <!-- agent: x -->\n", "tasks.md:1: the item has no text"],
    ["- [ ] a\n  <!-- agnet: demo -->\n", "tasks.md:2: agnet is not a setting; expected <!-- agent: claude -->"],
    ["- [ ] a\n  <!-- agent: -->\n", "tasks.md:2: agent is empty; expected <!-- agent: claude -->"],
    ["- [ ] a\n  <!-- turns: many -->\n", "tasks.md:2: the number of turns cannot be many; expected a number from 1 to 100"],
    ["- [ ] a\n  <!-- turns: 0 -->\n", "tasks.md:2: the number of turns cannot be 0"],
    ["- [ ] a\n  <!-- turns: 3 -->\n  Turn 1: x\n  Turn 2: y\n", "tasks.md:2: turns is 3, but the item has 2; expected <!-- turns: 2 -->"],
    ["- [ ] a\n  Turn 1: x\n  Turn 3: y\n", "tasks.md:3: this is turn 2 of the item, not 3; expected Turn 2:"],
    ["- [ ] a\n  Turn 1:\n", "tasks.md:2: the turn has no text; expected its prompt after the colon"],
    ["- [ ] a\n  <!-- budget: lots -->\n", 'tasks.md:2: budget does not take "lots"; expected <!-- budget: turns=10,minutes=30'],
    ["<!-- budget: lots -->\n- [ ] a\n- [ ] b\n", 'tasks.md:1: budget does not take "lots"'],
    ["- [ ] a\n  <!-- after: 7 -->\n", "tasks.md:2: there is no item 7; expected the number of another item"],
    ["- [ ] 1. a\n- [ ] 1. b\n- [ ] 2. c\n  <!-- after: 1 -->\n", "tasks.md:4: 1 is the number of two items, in lines 1 and 2"],
    ["- [ ] a\n  <!-- agent: x -->\n  <!-- agent: y -->\n", "tasks.md:3: agent is set twice, also in line 2"],
    [
      "- [ ] a <!-- agent: demo\n- [ ] b\n",
      "tasks.md:1: agent is in a comment that does not end on the same line; expected <!-- agent: claude -->",
    ],
    [
      "- [ ] a\n  <!-- turns:\n  3 -->\n",
      "tasks.md:2: turns is in a comment that does not end on the same line; expected <!-- turns: 3 -->",
    ],
    ["<!-- after: 1 -->\n- [ ] a\n", "tasks.md:1: after applies to one item; expected it below that item"],
    ["- [ ] 1. a\n  <!-- after: 1 -->\n", "tasks.md:2: these items wait for each other: 1 after 1; expected no cycle"],
    [
      "- [ ] 1. a\n  <!-- after: 3 -->\n- [ ] 2. b <!-- after: 1 -->\n- [ ] 3. c <!-- after: 2 -->\n",
      "tasks.md:2: these items wait for each other: 1 after 3 after 2 after 1; expected no cycle",
    ],
  ])("%j", (text, told) => {
    const found = faults(text);
    expect(found).toHaveLength(1);
    expect(found[0]?.startsWith(told), found[0]).toBe(true);
  });

  test("all faults are reported in the order of the file", () => {
    expect(faults("- [ ] a\n  <!-- turns: x -->\n- [] b\n- [ ] c <!-- after: 9 -->\n").map((fault) => fault.split(":")[1])).toEqual([
      "2",
      "3",
      "4",
    ]);
  });

  test("other comments, links and boxes in code are not faults", () => {
    expect(faults("- [ ] a\n  <!-- note: agents like this -->\n  <!-- TODO -->\n- [link](x)\n- [x](y)\n\n```\n- [] b\n```\n")).toEqual([]);
  });
});

test("any text is either parsed or reported as a fault", () => {
  const piece = fc.constantFrom(
    "- [ ] ",
    "- [x] ",
    "<!-- ",
    " -->",
    "after: 1",
    "turns: 2",
    "Turn 1: ",
    "\n",
    "\r\n",
    "\t",
    "  ",
    "a",
    "é",
    "```",
    "# ",
    "1. ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        for (const item of parse(pieces.join(""))) expect(item.turns.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toMatchObject({ code: "task_file_invalid", message: expect.stringMatching(/^tasks\.md:\d+: /) });
      }
    }),
    { numRuns: 2000 },
  );
});

test("thousands of items with dependencies are parsed quickly", () => {
  const lines = Array.from({ length: 2000 }, (_, i) => `- [ ] ${i + 1}. do${i === 0 ? "" : ` <!-- after: ${i},${Math.ceil(i / 2)} -->`}`);
  expect(parse(lines.join("\n"))).toHaveLength(2000);
});
