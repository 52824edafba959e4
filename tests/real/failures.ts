/** What must hold when the model refuses. */
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Claude tries again for minutes after everything but this. */
const REFUSED: Partial<Record<AgentName, string>> = { claude: "overflow" };

/** Gemini CLI has no hooks here: a turn that is over before its screen is looked at is not seen. */
const UNTOLD: readonly AgentName[] = ["gemini"];

export async function isIdleAfterARefusal(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  await becomes(world, agent, "idle");
  await world.prompt(agent, REFUSED[agent] ?? "error 401");
  await eventually(async () => (await world.model.asked()).length > 0);
  const seen = (turns: number | null) => turns === 1 || UNTOLD.includes(agent);
  const failed = await becomes(world, agent, ({ status, turns }) => status === "idle" && seen(turns));
  expect(failed.attention).toBeNull();
}

/** Those that say when it is over. Qwen Code says nothing of a limit, and tries again for minutes. */
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
