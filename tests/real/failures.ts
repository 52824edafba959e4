/** Checks for agents whose model refuses. */
import { rmSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes, interrupt, statuses } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Claude retries for minutes after every other error. */
const REFUSED: Partial<Record<AgentName, string>> = { claude: "overflow" };

export async function isIdleAfterARefusal(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  await becomes(world, agent, "idle");
  await world.prompt(agent, REFUSED[agent] ?? "error 401");
  await eventually(async () => (await world.model.asked()).length > 0);
  const failed = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  expect(failed.attention).toBeNull();
}

/** Agents that report when the limit ends. Qwen Code does not report a limit on its request, and retries for minutes. */
const TELL_THE_TIME: readonly AgentName[] = ["codex", "opencode"];

export async function waitsForALimit(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  await becomes(world, agent, "idle");
  const began = Date.now();
  await world.prompt(agent, "limit 2h");
  const { status, turns, attention } = await becomes(world, agent, ({ attention }) => attention?.for === "rate_limit");
  expect([status, turns]).toEqual(["waiting", 1]);
  if (!TELL_THE_TIME.includes(agent)) return expect(attention?.until).toBeNull();
  // Some agents report the time to the minute.
  const inHours = (Date.parse(attention?.until ?? "") - began) / 3_600_000;
  expect(inHours).toBeGreaterThan(1.98);
  expect(inHours).toBeLessThan(2.1);
}

/** The agent waits for the limit while it retries; its leftover message on the screen does not affect the next turn. */
export async function waitsOnceForALimit(agent: AgentName, { hooks = true } = {}): Promise<void> {
  await using world = await RealWorld.open();
  const { env, project, home } = await world.agent(agent);
  // Without this directory opencode gets no plugin.
  if (!hooks) rmSync(path.join(home, ".config/opencode/node_modules"), { recursive: true });
  await world.home.ok(["spawn", agent, "--name", agent], { cwd: project, env });
  await becomes(world, agent, "idle");
  await world.prompt(agent, "error 429 x3 retry-after 2; say better");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  // A later retry time is reported and ends nothing.
  const changes = (await statuses(world, agent)).filter((status, i, all) => status !== all[i - 1]);
  expect(changes).toEqual(["working", "waiting for rate_limit", ...changes.slice(2).filter((status) => !status.startsWith("waiting"))]);
  if (agent !== "codex") return;
  await world.prompt(agent, "error 429 x99");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
  await world.shows(agent, /^■ .*429 Too Many Requests/m);
  const before = (await statuses(world, agent)).length;
  await world.prompt(agent, "say again; talk 4s");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 3);
  expect((await statuses(world, agent)).slice(before)).toEqual(["working", "idle"]);
}

/** A limit in the middle of an answer is reported at once; its leftover message on the screen does not affect the next turn. */
export async function namesALimitInAnAnswer(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  await becomes(world, agent, "idle");
  await world.prompt(agent, "break 429");
  const { status, attention } = await becomes(world, agent, ({ attention }) => attention?.for === "rate_limit");
  expect([status, attention?.text]).toEqual(["waiting", expect.stringContaining("Rate limit reached")]);
  await interrupt(world, agent);
  await becomes(world, agent, "idle");
  const before = (await statuses(world, agent)).length;
  await world.prompt(agent, "say again; talk 4s");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
  expect((await statuses(world, agent)).slice(before)).toEqual(["working", "idle"]);
}
