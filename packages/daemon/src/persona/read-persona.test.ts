import { describe, expect, test } from "vitest";
import * as yaml from "yaml";
import { readPersona } from "./read-persona.ts";

const own = (text: string) => readPersona(text, { yaml, claude: false });
const claude = (text: string) => readPersona(text, { yaml, claude: true });
const matter = (...fields: string[]) => ["---", ...fields, "---", "You review code."].join("\n");

test("a persona is its fields and the text below them", () => {
  expect(own(matter("name: reviewer", "description: reads", "agent: claude", "model: opus", "tools: [Read, Grep]"))).toEqual({
    persona: {
      name: "reviewer",
      description: "reads",
      agent: "claude",
      model: "opus",
      tools: ["Read", "Grep"],
      instructions: "You review code.",
    },
    problems: [],
  });
});

test("all fields except name and description may be omitted or empty", () => {
  const { persona } = own("---\nname: reviewer\ndescription: reads\nagent:\ntools: ''\n---");
  expect(persona).toEqual({ name: "reviewer", description: "reads", agent: null, model: null, tools: null, instructions: "" });
});

test.each(["\r\n", "\n"])("lines may end in %j, and a byte order mark may come first", (end) => {
  const text = `\uFEFF---${end}name: reviewer${end}description: |${end}  two${end}  lines${end}---${end}One${end}${end}Two${end}`;
  expect(own(text).persona).toMatchObject({ name: "reviewer", description: "two\nlines", instructions: "One\n\nTwo" });
});

test.each([
  ["Read, Grep , Bash", ["Read", "Grep", "Bash"]],
  ["Bash(git log:*, git diff:*), Read", ["Bash(git log:*, git diff:*)", "Read"]],
  ["mcp__github__get_issue", ["mcp__github__get_issue"]],
  [",", []],
])("tools separated by commas are read: %s", (tools, expected) => {
  expect(own(matter("name: a", "description: b", `tools: "${tools}"`)).persona?.tools).toEqual(expected);
});

describe("problems with line and expectation", () => {
  test.each([
    ["You review code.", 1, /no front matter/, /a line ---/],
    ["", 1, /no front matter/, /a line ---/],
    ["---\nname: reviewer\n", 1, /does not end/, /another line ---/],
    ["---\n---\n", 2, /no fields/, /name:/],
    ["---\n- name\n---\n", 2, /no fields/, /name:/],
    [matter("description: reads"), 2, /name is missing/, /name: code-reviewer/],
    [matter("", "name: reviewer"), 2, /description is missing/, /description:/],
    [matter("name: reviewer", "description:"), 3, /description is missing/, /description:/],
    [matter("name: [a]", "description: reads"), 2, /name is not a text/, /name: a text/],
    [matter("description: reads", "name: two words"), 3, /not allowed/, /name: code-reviewer/],
    [matter("name: reviewer", "description: when: always"), 3, /not YAML/, /in quotes/],
    [matter("name: a", "name: b", "description: c"), 3, /not YAML.*unique/, /name: text/],
    [matter("name: reviewer", "description: reads", "tools:", "  Read: true"), 4, /tools is neither/, /tools: Read/],
  ])("%j", (text, line, what, expected) => {
    const { persona, problems } = own(text);
    expect(persona).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ line, usable: false });
    expect([problems[0]?.what, problems[0]?.expected]).toEqual([expect.stringMatching(what), expect.stringMatching(expected)]);
  });

  test("every problem of a file is reported", () => {
    expect(own(matter("agent: [x]", "colour: blue")).problems.map(({ line, what, usable }) => [line, what, usable])).toEqual([
      [2, "name is missing", false],
      [2, "description is missing", false],
      [2, "agent is not a text", false],
      [3, "colour means nothing", false],
    ]);
  });

  test("an unknown field is reported, and the persona is still usable", () => {
    const { persona, problems } = own(matter("name: reviewer", "description: reads", "modle: opus"));
    expect(persona).toMatchObject({ model: null });
    expect(problems).toEqual([
      { line: 4, what: "modle means nothing", expected: "one of name, description, agent, model, tools", usable: true },
    ]);
  });
});

describe("an unchanged file of Claude Code (TURN-11 conversations)", () => {
  test("works with a description that is not YAML, and with additional fields", () => {
    const text = [
      "---",
      "name: Code Reviewer",
      "description: Use this agent when: code was written. Examples: <example>user: 'look' → assistant: \"I look\"</example>",
      "tools: Read, Grep, Glob, Bash",
      "model: inherit",
      "color: blue",
      "---",
      "",
      "You are a reviewer.",
    ].join("\n");
    expect(claude(text)).toEqual({
      persona: {
        name: "Code Reviewer",
        description: "Use this agent when: code was written. Examples: <example>user: 'look' → assistant: \"I look\"</example>",
        agent: null,
        model: null,
        tools: ["Read", "Grep", "Glob", "Bash"],
        instructions: "You are a reviewer.",
      },
      problems: [],
    });
  });

  test("works with continued lines, quotes, and no tools", () => {
    const text = '---\nname: "reviewer"\ndescription: Use it: always\n  and everywhere\n\n  at last\ntools:\n---\nYou.';
    expect(claude(text).persona).toMatchObject({ name: "reviewer", description: "Use it: always\nand everywhere\nat last", tools: null });
  });

  test("is invalid without a name, or with a name that cannot be shown", () => {
    expect(claude(matter("description: a: b")).problems).toMatchObject([{ what: "name is missing" }]);
    expect(claude(matter('name: "a/b"', "description: b")).problems).toMatchObject([{ what: "the name cannot be used" }]);
  });
});
