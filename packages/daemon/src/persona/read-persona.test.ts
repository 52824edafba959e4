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
      disallowedTools: [],
      permissionMode: null,
      instructions: "You review code.",
    },
    problems: [],
    agentLine: 4,
  });
});

test("all fields except name and description may be omitted or empty", () => {
  const { persona } = own("---\nname: reviewer\ndescription: reads\nagent:\ntools: ''\n---");
  const none = { agent: null, model: null, tools: null, disallowedTools: [], permissionMode: null };
  expect(persona).toEqual({ name: "reviewer", description: "reads", ...none, instructions: "" });
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
      [3, "colour is not a field of a persona", false],
    ]);
  });

  test("an unknown field is reported, and the persona is still usable", () => {
    const { persona, problems } = own(matter("name: reviewer", "description: reads", "modle: opus"));
    expect(persona).toMatchObject({ model: null });
    expect(problems).toEqual([
      {
        line: 4,
        what: "modle is not a field of a persona",
        expected: expect.stringContaining("one of name, description, agent, model, tools"),
        usable: true,
      },
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
        agent: "claude",
        model: null,
        tools: ["Read", "Grep", "Glob", "Bash"],
        disallowedTools: [],
        permissionMode: null,
        instructions: "You are a reviewer.",
      },
      problems: [],
    });
  });

  test("works with continued lines, quotes, and no tools", () => {
    const text = '---\nname: "reviewer"\ndescription: Use it: always\n  and everywhere\n\n  at last\ntools:\n---\nYou.';
    expect(claude(text).persona).toMatchObject({ name: "reviewer", description: "Use it: always\nand everywhere\nat last", tools: null });
  });

  test("works with tools as lists, a permission mode and nested fields of its own", () => {
    const text = matter("name: a", "description: b", "disallowedTools:", "  - Bash", "permissionMode: plan", "hooks:", "  Stop: []");
    expect(claude(text)).toMatchObject({
      persona: { agent: "claude", tools: null, disallowedTools: ["Bash"], permissionMode: "plan" },
      problems: [],
    });
  });

  test.each(["bypassPermissions", "auto"])("does not turn permission requests off with %s", (mode) => {
    const { persona, problems } = claude(matter("name: a", "description: b", `permissionMode: ${mode}`));
    expect(persona).toMatchObject({ permissionMode: null });
    expect(problems).toMatchObject([{ line: 4, what: `permissionMode ${mode} is ignored`, usable: true }]);
  });

  test("is invalid without a name, or with a name that cannot be shown", () => {
    expect(claude(matter("description: a: b")).problems).toMatchObject([{ what: "name is missing" }]);
    expect(claude(matter('name: "a/b"', "description: b")).problems).toMatchObject([{ what: "the name cannot be used" }]);
  });
});

test.each([
  ["brackets", `x: ${"[".repeat(2000)}`, "too deeply nested"],
  ["lists", "- ".repeat(2000), "too deeply nested"],
  ["keys", "? ".repeat(2000), "too deeply nested"],
  ["text", `x: ${"y".repeat(40_000)}`, "longer than 32 KB"],
])("front matter of endless %s is refused before it is parsed", (_, head, why) => {
  const parseDocument = () => expect.fail("parsed");
  const { persona, problems } = readPersona(`---\n${head}\n---\n`, { yaml: { ...yaml, parseDocument } as never, claude: false });
  expect(persona).toBeUndefined();
  expect(problems[0]?.what).toContain(why);
});

test("a parenthesis in tools that never closes belongs to the last name", () => {
  const head = `name: a\ndescription: b\ntools: "Read, Bash(git log, ${"(".repeat(1000)}"`;
  expect(readPersona(`---\n${head}\n---\n`, { yaml, claude: false }).persona?.tools).toHaveLength(2);
});
