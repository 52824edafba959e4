import type { Persona, PersonaProblem } from "@holdfast/contract/persona/persona";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Command } from "../../command.ts";
import { command as ls } from "./ls.ts";
import { command as show } from "./show.ts";

let out = "";

beforeEach(() => {
  out = "";
  vi.stubEnv("HOME", "/home/me");
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function persona(more: Partial<Persona>): Persona {
  return {
    name: "reviewer",
    description: "reads\nwhat others wrote",
    agent: null,
    model: null,
    tools: null,
    disallowedTools: [],
    toolsEnforcedIn: [],
    permissionMode: null,
    instructions: "",
    source: "project",
    file: "/home/me/p/r.md",
    shadowedBy: null,
    ...more,
  };
}

async function run(command: Command, reply: unknown, { args = [], json = false }: { args?: string[]; json?: boolean } = {}) {
  const asked: unknown[] = [];
  const call = async (...words: unknown[]) => {
    asked.push(words);
    return reply;
  };
  const code = await command.run({ args, json, client: { call } } as never);
  return { code, asked };
}

test("personas are a table, with unused personas and problems listed below it", async () => {
  const problem: PersonaProblem = { file: "/home/me/p/b.md", line: 2, what: "name is missing", expected: "name: x", usable: false };
  const { asked } = await run(ls, {
    personas: [
      persona({ agent: "demo", model: "big" }),
      persona({ source: "user", file: "/home/me/u.md", shadowedBy: "/home/me/p/r.md" }),
      persona({ name: "w\u001b[2Jriter", source: "claude_user" }),
    ],
    problems: [problem, { ...problem, file: "/home/me/p/r.md", line: 4, what: "modle is not a field of a persona", usable: true }],
  });
  expect(asked).toEqual([["listPersonas", { query: { cwd: process.cwd(), home: "/home/me" } }]]);
  expect(out.split("\n").map((line) => line.trimEnd())).toEqual([
    "NAME        AGENT  MODEL  FROM       DESCRIPTION",
    "reviewer    demo   big    project    reads what others wrote",
    "w\ufffd[2Jriter  –      –      ~/.claude  reads what others wrote",
    "",
    "Not used, because another persona has the same name:",
    "  reviewer: ~/u.md; ~/p/r.md comes first",
    "",
    "Wrong:",
    "  ~/p/b.md:2 name is missing; expected name: x",
    "  ~/p/r.md:4 modle is not a field of a persona; expected name: x (still used)",
    "",
  ]);
});

test("an empty list shows how to write a persona, and --json prints the daemon's reply", async () => {
  await run(ls, { personas: [], problems: [] });
  expect(out).toMatch(/^No personas\. Create \.holdfast\/personas\/reviewer\.md/);
  out = "";
  await run(ls, { personas: [], problems: [] }, { json: true });
  expect(JSON.parse(out)).toEqual({ personas: [], problems: [] });
});

test("personas show prints the fields and the instructions", async () => {
  const { asked } = await run(show, persona({ tools: ["Read"], instructions: "You\treview.\n\nBe kind." }), { args: ["reviewer"] });
  expect(asked).toMatchObject([["getPersona", { params: { name: "reviewer" } }]]);
  expect(out).toBe(
    "reviewer\nreads\nwhat others wrote\n\nagent  any\nmodel  the agent's default\ntools  Read\n       some agents enforce this; holdfast spawn prints a note for the others\nfile   ~/p/r.md\n\nYou    review.\n\nBe kind.\n",
  );
  out = "";
  await run(show, persona({ agent: "demo", model: "big", tools: [] }), { args: ["reviewer"] });
  expect(out).toContain("agent  demo\nmodel  big\ntools  none\n       demo does not enforce this; approvals decide what it may do\n");
  out = "";
  const claude = { agent: "claude", disallowedTools: ["Bash", "Write"], permissionMode: "plan" };
  await run(show, persona({ ...claude, toolsEnforcedIn: ["terminal", "conversation"] }), { args: ["reviewer"] });
  expect(out).toContain("mode   plan\ntools  all except Bash, Write\n       claude enforces this\n");
  out = "";
  await run(show, persona({ ...claude, toolsEnforcedIn: ["conversation"] }), { args: ["reviewer"] });
  expect(out).toContain("       claude enforces this only in a conversation\n");
  out = "";
  const tools = ["Bash(git log:*)"];
  await run(show, persona({ ...claude, tools, toolsEnforcedIn: ["terminal", "conversation"] }), { args: ["reviewer"] });
  expect(out).toContain("       claude enforces this, except the text in parentheses\n");
  out = "";
  await run(show, persona({}), { args: ["reviewer"], json: true });
  expect(JSON.parse(out)).toMatchObject({ name: "reviewer" });
});

test("exactly one name is required", async () => {
  for (const args of [[], ["a", "b"]]) await expect(run(show, null, { args })).rejects.toMatchObject({ code: "usage" });
});
