/** Checks for two sessions of each real agent that work together with Holdfast's tools. Each agent asks for permission in its own way. */
import path from "node:path";
import type { Approval, AuditEntry, Message, Session } from "@holdfast/contract";
import { expect } from "vitest";
import { type AdapterName, installAgent } from "../../script/real-agents.mjs";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

const ADAPTERS: Partial<Record<AgentName, AdapterName>> = { claude: "claude-acp", codex: "codex-acp" };

/** In Codex's default mode a model decides about permissions. */
const MODES: Partial<Record<AgentName, string>> = { codex: "workspace-write" };

/** Each agent's name for a tool of the server `holdfast`. */
const NAMES: Record<AgentName, (tool: string) => string> = {
  claude: (tool) => `mcp__holdfast__${tool}`,
  codex: (tool) => `mcp__holdfast.${tool}`,
  gemini: (tool) => `mcp_holdfast_${tool}`,
  opencode: (tool) => `holdfast_${tool}`,
  qwen: (tool) => `mcp__holdfast__${tool}`,
};

/** opencode is set up to ask only about commands and edits. */
const ASKS_NOT: readonly AgentName[] = ["opencode"];

/** Gemini shows only a part of the request, so it can be answered only on its screen. */
const ON_ITS_SCREEN: Partial<Record<AgentName, RegExp>> = { gemini: /Allow execution of MCP tool/ };

/** A step of a script for the model: a call of a Holdfast tool. Quotes inside are escaped, so that it stays one line. */
export function call(agent: AgentName, tool: string, args: object): string {
  return `tool ${NAMES[agent](tool)} ${JSON.stringify(args)}`;
}

/** Allows all permission requests until `end`, which returns them. */
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

/** One session starts another, shares a value with it, tells it to read and report the value, gets the report, and stops it. */
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

  // The kid got its parent's message as data and acted on it; its report started another turn of the boss.
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
  // The agent's own permission system still applies: it asked for each call.
  expect(allowed.length > 4).toBe(!ASKS_NOT.includes(agent));
  const audit = await world.home.json<AuditEntry[]>(["audit"]);
  const byBoss = audit.filter(({ actor }) => actor === `session:${boss.id}`).map(({ what }) => what);
  expect(byBoss).toEqual(expect.arrayContaining([expect.stringMatching(/^started kid/), "stopped kid"]));
}

/** The tools also work in a terminal, as the agent's session. `install`: the user has written them into the agent's configuration. */
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
