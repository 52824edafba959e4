/** What must hold when the model refuses. */
import { rmSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes, interrupt, statuses } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Claude tries again for minutes after everything but this. */
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

/** Those that say when it is over. Qwen Code says nothing of one that meets its request, and tries again for minutes. */
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
  // Some tell it to the minute.
  const inHours = (Date.parse(attention?.until ?? "") - began) / 3_600_000;
  expect(inHours).toBeGreaterThan(1.98);
  expect(inHours).toBeLessThan(2.1);
}

/** For as long as it tries again it waits for the limit; what it showed of that then is not taken for its next turn. */
export async function waitsOnceForALimit(agent: AgentName, { hooks = true } = {}): Promise<void> {
  await using world = await RealWorld.open();
  const { env, project, home } = await world.agent(agent);
  // Nothing is put into an opencode that lacks what plugins need.
  if (!hooks) rmSync(path.join(home, ".config/opencode/node_modules"), { recursive: true });
  await world.home.ok(["spawn", agent, "--name", agent], { cwd: project, env });
  await becomes(world, agent, "idle");
  await world.prompt(agent, "error 429 x3 retry-after 2; say better");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  // A later time at which it tries again is told, and ends nothing.
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

/** It names one that meets it in the middle of an answer at once; what stays of that on the screen is not taken for its next turn. */
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
