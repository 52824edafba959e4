/** What must hold for two sessions of each real agent that work together by Holdfast's tools, each of which it asks leave for in its own way. */
import path from "node:path";
import type { Approval, AuditEntry, Message, Session } from "@holdfast/contract";
import { expect } from "vitest";
import { type AdapterName, installAgent } from "../../script/real-agents.mjs";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

const ADAPTERS: Partial<Record<AgentName, AdapterName>> = { claude: "claude-acp", codex: "codex-acp" };

/** Its usual one lets a model decide what is allowed. */
const MODES: Partial<Record<AgentName, string>> = { codex: "workspace-write" };

/** What each calls a tool of the server `holdfast`. */
const NAMES: Record<AgentName, (tool: string) => string> = {
  claude: (tool) => `mcp__holdfast__${tool}`,
  codex: (tool) => `mcp__holdfast.${tool}`,
  gemini: (tool) => `mcp_holdfast_${tool}`,
  opencode: (tool) => `holdfast_${tool}`,
  qwen: (tool) => `mcp__holdfast__${tool}`,
};

/** Told to ask about commands and edits only, it asks about nothing else. */
const ASKS_NOT: readonly AgentName[] = ["opencode"];

/** It shows less than all that it asks for: it is answered only there. */
const ON_ITS_SCREEN: Partial<Record<AgentName, RegExp>> = { gemini: /Allow execution of MCP tool/ };

/** A step of a script for the model: a call of a tool of ours. What is in quotes inside of it is escaped, so that it stays one line. */
export function call(agent: AgentName, tool: string, args: object): string {
  return `tool ${NAMES[agent](tool)} ${JSON.stringify(args)}`;
}

/** Allows what is asked for, whoever asks, until it is told to end; answers what it was. */
export function allowing(world: RealWorld): AsyncDisposable & { end(): Promise<Approval[]> } {
  const allowed: Approval[] = [];
  let isOn = true;
  const going = (async () => {
    while (isOn) {
      for (const approval of await world.home.json<Approval[]>(["approvals"])) {
        const { code } = await world.home.cli(["approvals", "allow", approval.id]);
        if (code === 0) allowed.push(approval);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  const end = async () => {
    isOn = false;
    await going;
    return allowed;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

/** One starts another, shares a value with it, tells it to read that and to say it, hears from it, and stops it. */
export async function worksTogether(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const { env, project } = await world.agent(agent, "boss");
  const adapter = ADAPTERS[agent];
  const found: Record<string, string> =
    adapter === undefined ? {} : { PATH: `${path.dirname(await installAgent(adapter))}${path.delimiter}${env.PATH}` };
  const mode = MODES[agent];
  await world.home.ok(["spawn", "--chat", agent, "--name", "boss", ...(mode === undefined ? [] : ["--mode", mode])], {
    cwd: project,
    env: { ...env, ...found },
  });
  const boss = await becomes(world, "boss", "idle");
  await using inbox = allowing(world);
  const forKid = [
    call(agent, "get_shared_context", { group: "team", key: "colour" }),
    call(agent, "send_message", { to: "boss", text: "say the colour came back as blue" }),
    "say I have told it",
  ].join("\n");
  const script = [
    call(agent, "create_group", { group: "team" }),
    call(agent, "share_context", { group: "team", key: "colour", value: "blue" }),
    call(agent, "spawn_agent", { agent, name: "kid", groups: ["team"], report: false }),
    call(agent, "send_message", { to: "kid", text: forKid, wait_ms: 120_000 }),
    "say I have heard from it",
  ].join("\n");
  await world.home.ok(["send", "boss", script]);
  const kid = await eventually(async () => (await world.home.json<Session[]>(["ls"])).find(({ name }) => name === "kid"), 90_000, 200);
  expect(kid).toMatchObject({ agent, kind: "conversation", parent: boss.id, owner: `session:${boss.id}` });

  // What the kid was told is data from its parent, and it did it; what it said in turn began another turn of the boss.
  const said = await eventually(
    async () =>
      (await world.home.json<Message[]>(["messages"])).find(
        ({ from, session, state }) => from === `session:${kid.id}` && session === boss.id && state === "replied",
      ),
    90_000,
    500,
  );
  expect(said).toMatchObject({ session: boss.id, reply: expect.stringContaining("the colour came back as blue") });
  const asked = await world.model.asked();
  const results = asked.flatMap(({ results = [] }) => results).join("\n");
  expect(results).toContain('"value":"blue"');
  expect(asked.some(({ prompt }) => prompt.includes('from the agent session "boss", not from the user'))).toBe(true);
  using client = world.home.client();
  expect(await client.call("getValue", { params: { group: "team", key: "colour" } })).toMatchObject({
    value: "blue",
    author: `session:${boss.id}`,
  });

  await becomes(world, "boss", "idle");
  await world.home.ok(["send", "boss", `${call(agent, "task_stop", { name: "kid" })}\nsay it is over`]);
  await eventually(async () => (await world.home.session("kid")).status === "stopped", 120_000, 200);
  await becomes(world, "boss", "idle");
  const allowed = await inbox.end();
  // Its own system of permissions is as it was: it asked for each of them.
  expect(allowed.length > 4).toBe(!ASKS_NOT.includes(agent));
  const audit = await world.home.json<AuditEntry[]>(["audit"]);
  const byBoss = audit.filter(({ actor }) => actor === `session:${boss.id}`).map(({ what }) => what);
  expect(byBoss).toEqual(expect.arrayContaining([expect.stringMatching(/^started kid/), "stopped kid"]));
}

/** In a terminal, too, it has the tools, and acts by them as its session. `install`: its user has written them into its own configuration. */
export async function actsInATerminal(agent: AgentName, { install = false }: { install?: boolean } = {}): Promise<void> {
  await using world = await RealWorld.open();
  const { env, project } = await world.agent(agent);
  if (install) await world.home.ok(["mcp", "install", agent, "--write"], { cwd: project, env });
  const { id } = await world.home.json<Session>(["spawn", agent, "--name", agent], { cwd: project, env });
  await becomes(world, agent, "idle");
  await using _inbox = allowing(world);
  const dialog = ON_ITS_SCREEN[agent];
  await world.home.ok(["send", agent, `${call(agent, "report_progress", { text: "half of it", done: 1, total: 2 })}\nsay told`]);
  if (dialog) await world.answer(agent, dialog, "Enter");
  const session = await eventually(
    async () => {
      const now = await world.home.session(agent);
      return now.progress !== null && now;
    },
    90_000,
    200,
  );
  expect(session.progress).toMatchObject({ text: "half of it", done: 1, total: 2 });
  const audit = await world.home.json<AuditEntry[]>(["audit"]);
  expect(audit.filter(({ actor }) => actor === `session:${id}`).map(({ what }) => what)).toContain(
    `reported the progress of ${agent}: half of it`,
  );
}
