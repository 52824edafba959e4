/** A persona's tools, as the model of the real agent gets them. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { installAgent } from "../../script/real-agents.mjs";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

const PROMPT = "say deployed";

/** A file as Claude Code users have it: a colon in the description, a list of tools, a model alias, fields that only Claude Code knows. */
const REVIEWER = `---
name: reviewer
description: Use this agent when: code was written
tools: Read, Grep, mcp__holdfast__report_progress
model: haiku
color: blue
---
You review code.
`;

const READER = `---
name: reader
description: reads
disallowedTools:
  - Bash
  - mcp__holdfast
---
You read code.
`;

/** The requests of turns. Those for titles have no tools. */
async function asked(world: RealWorld): Promise<{ tools: string[]; text: string; model: unknown }[]> {
  const bodies = (await world.model.bodies()).filter(
    ({ messages, tools }) => JSON.stringify(messages).includes(PROMPT) && (tools as unknown[] | undefined)?.length,
  );
  return bodies.map((body) => ({
    tools: (body.tools as { name: string }[]).map(({ name }) => name).filter((name) => name !== "DeferredToolPlaceholder"),
    text: JSON.stringify(body),
    model: body.model,
  }));
}

async function withPersonas(world: RealWorld): Promise<{ cwd: string; env: Record<string, string> }> {
  const { env, project } = await world.agent("claude");
  mkdirSync(path.join(project, ".claude/agents"), { recursive: true });
  for (const [name, text] of Object.entries({ reviewer: REVIEWER, reader: READER }))
    writeFileSync(path.join(project, `.claude/agents/${name}.md`), text);
  const adapter = path.dirname(await installAgent("claude-acp"));
  return { cwd: project, env: { ...env, PATH: `${adapter}${path.delimiter}${env.PATH}` } };
}

test.each([
  ["a terminal", []],
  ["a conversation", ["--chat"]],
])(
  "claude in %s offers its model only the tools of an unchanged agent file, also after a resume (TURN-11 conversations)",
  async (_, chat) => {
    await using world = await RealWorld.open();
    const place = await withPersonas(world);
    const args = ["spawn", "--persona", "reviewer", "--name", "r", ...chat, "--prompt", PROMPT];
    const { stderr } = await world.home.cli(args, place);
    expect(stderr).not.toContain("note:");
    await becomes(world, "r", ({ status, turns }) => status === "idle" && turns === 1);
    expect(await world.home.json<Session>(["show", "r"])).toMatchObject({
      agent: "claude",
      role: "reviewer",
      tools: { allowed: ["Read", "Grep", "mcp__holdfast__report_progress"], denied: [], enforced: true },
    });
    const first = await asked(world);
    expect(first.length).toBeGreaterThan(0);
    for (const { tools, text, model } of first) {
      expect(tools.filter((name) => !name.startsWith("mcp__")).sort()).toEqual(["Grep", "Read"]);
      expect(text).not.toMatch(/mcp__holdfast__(?!report_progress)/);
      expect(text).toContain("You review code.");
      expect(model).toMatch(/haiku/);
    }
    await world.home.ok(["stop", "r"]);
    await world.home.ok(["resume", "r"]);
    await becomes(world, "r", "idle");
    await world.home.ok(["send", "r", "say again", "--wait"]);
    const later = (await asked(world)).slice(first.length);
    expect(later.length).toBeGreaterThan(0);
    for (const { tools } of later) expect(tools.filter((name) => !name.startsWith("mcp__")).sort()).toEqual(["Grep", "Read"]);
  },
  300_000,
);

test.each([
  ["a terminal", []],
  ["a conversation", ["--chat"]],
])(
  "claude in %s does not offer its model the tools that an agent file disallows (TURN-11 conversations)",
  async (_, chat) => {
    await using world = await RealWorld.open();
    const place = await withPersonas(world);
    await world.home.ok(["spawn", "--persona", "reader", "--name", "r", ...chat, "--prompt", PROMPT], place);
    await becomes(world, "r", ({ status, turns }) => status === "idle" && turns === 1);
    const requests = await asked(world);
    expect(requests.length).toBeGreaterThan(0);
    for (const { tools, text } of requests) {
      expect(tools).toContain("Read");
      expect(tools).not.toContain("Bash");
      // The other file's tools are in the list of subagents.
      expect(text).not.toMatch(/mcp__holdfast__(?!report_progress)/);
    }
  },
  300_000,
);
