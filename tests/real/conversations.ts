/** Checks for conversations with each real agent, over its own protocol or an adapter's. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Approval, PlacedEntry, Session } from "@holdfast/contract";
import { expect } from "vitest";
import { type AdapterName, installAgent } from "../../script/real-agents.mjs";
import { eventually } from "../home.ts";
import { pullThePlug } from "../plug.ts";
import type { AgentName } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

const ADAPTERS: Partial<Record<AgentName, AdapterName>> = { claude: "claude-acp", codex: "codex-acp" };

/** In Codex's default mode a model decides about permissions. */
const MODES: Partial<Record<AgentName, string>> = { codex: "workspace-write" };

async function talk(world: RealWorld, agent: AgentName): Promise<Session> {
  const { env, project } = await world.agent(agent);
  const adapter = ADAPTERS[agent];
  const found: Record<string, string> =
    adapter === undefined ? {} : { PATH: `${path.dirname(await installAgent(adapter))}${path.delimiter}${env.PATH}` };
  const mode = MODES[agent];
  const args = ["spawn", "--chat", agent, "--name", agent, ...(mode === undefined ? [] : ["--mode", mode])];
  await world.home.ok(args, { cwd: project, env: { ...env, ...found } });
  return becomes(world, agent, "idle");
}

async function entries(world: RealWorld, agent: AgentName): Promise<PlacedEntry["entry"][]> {
  const printed = await world.home.ok(["transcript", "--json", agent]);
  return printed
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as PlacedEntry).entry);
}

/** One conversation: an answer, an allowed tool, a denied tool, a cancelled turn, and full memory after everything was killed. */
export async function converses(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const { cwd } = await talk(world, agent);
  expect(await world.home.ok(["send", agent, "say periwinkle", "--wait"])).toContain("periwinkle");
  await world.home.ok(["send", agent, "tool shell touch made.txt; say now there is a file"]);
  const waiting = await becomes(world, agent, "waiting");
  expect(waiting.attention).toMatchObject({ for: "approval" });
  const [asked] = await world.home.json<Approval[]>(["approvals"]);
  expect(asked).toMatchObject({ channel: "protocol", name: agent, answers: ["allow", "deny"] });
  expect(existsSync(path.join(cwd, "made.txt"))).toBe(false);
  await world.home.ok(["approvals", "allow", agent]);
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
  expect(existsSync(path.join(cwd, "made.txt"))).toBe(true);
  const tools = (await entries(world, agent)).filter(({ type }) => type.startsWith("tool_"));
  expect([tools[0]?.type, tools.at(-1)?.type]).toEqual(["tool_started", "tool_completed"]);
  await world.home.ok(["send", agent, "tool shell touch never.txt; say it is not there"]);
  await becomes(world, agent, "waiting");
  await world.home.ok(["approvals", "deny", agent]);
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 3);
  expect(existsSync(path.join(cwd, "never.txt"))).toBe(false);
  await world.home.ok(["send", agent, "say here I go; talk 100s"]);
  await eventually(
    async () => (await entries(world, agent)).some((entry) => entry.type === "text" && entry.text.includes("baba")),
    60_000,
    200,
  );
  await world.home.ok(["cancel", agent]);
  const idle = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 4);
  expect((await entries(world, agent)).filter(({ type }) => type === "turn_ended").at(-1)).toMatchObject({ reason: "cancelled" });
  const used = (await world.home.ok(["events", "--type", "usage.recorded"]))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);
  expect(used.some(({ data }) => Number(data.input) > 0 && Number(data.output) > 0)).toBe(true);
  await pullThePlug(world.home);
  await world.up();
  await world.home.ok(["resume", agent]);
  expect(await world.home.ok(["send", agent, "recall", "--wait"])).toContain("I remember: periwinkle");
  expect(await world.home.session(agent)).toMatchObject({ conversation: idle.conversation, runs: 2 });
}
