/** Checks after a kill of the daemon or the agent. */
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes, interrupt } from "./watching.ts";
import { RealWorld } from "./world.ts";

export async function survivesTheDaemon(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  await becomes(world, agent, "idle");

  // The turn ends while no daemon runs.
  await world.prompt(agent, "say the first; talk 4s");
  await becomes(world, agent, "working");
  await world.home.killDaemon();
  await eventually(async () => (await world.model.asked()).some(({ prompt, state }) => prompt.includes("the first") && state === "ended"));
  await world.up();
  const first = await becomes(world, agent, "idle");
  expect(first.turns).toBe(1);
  expect(first.conversation).not.toBeNull();

  // The turn continues meanwhile.
  await world.prompt(agent, "say here I go; talk 100s");
  await becomes(world, agent, "working");
  await world.shows(agent, /^\W*here I go bababa/m);
  await world.home.killDaemon();
  await world.up();
  const second = await becomes(world, agent, "working");
  expect([second.turns, second.conversation]).toEqual([2, first.conversation]);
  await interrupt(world, agent);
  const last = await becomes(world, agent, "idle");
  expect([last.turns, last.conversation]).toEqual([2, first.conversation]);
}

export async function goesOnWithItsConversation(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent, agent, ["--restart", "on-failure"]);
  await becomes(world, agent, "idle");
  await world.prompt(agent, "say the first; talk 2s");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  const { pid, conversation } = await world.home.session(agent);
  expect(conversation).not.toBeNull();

  process.kill(pid ?? 0, "SIGKILL");
  const next = await becomes(world, agent, ({ status, runs }) => status === "idle" && runs === 2);
  expect([next.turns, next.conversation]).toEqual([1, conversation]);
  await world.prompt(agent, "say the second; talk 2s");
  const last = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
  expect(last.conversation).toBe(conversation);
  const asked = (await world.model.bodies()).map((body) => JSON.stringify(body));
  expect(asked.some((body) => body.includes("say the first") && body.includes("say the second"))).toBe(true);
}

/** An agent that dies before its first turn has no conversation to continue. */
export async function startsAnewWithoutATurn(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent, agent, ["--restart", "on-failure"]);
  const { pid } = await becomes(world, agent, "idle");
  process.kill(pid ?? 0, "SIGKILL");
  const next = await becomes(world, agent, ({ status, runs }) => status === "idle" && runs === 2);
  expect(next.turns).toBe(0);
  await world.prompt(agent, "say the first; talk 2s");
  const last = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  expect(last.conversation).toBe(next.conversation ?? last.conversation);
}

/** Turns that end unobserved are counted from the agent's own files, and its conversation is kept. */
export async function countsTurnsNobodySaw(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent, agent, ["--prompt", "say the first"]);
  const first = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  await world.prompt(agent, "say the second");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
  await world.home.ok(["stop", agent]);
  await world.home.ok(["resume", agent]);
  const next = await becomes(world, agent, "idle");
  expect([next.turns, next.conversation, next.conversations.length]).toEqual([2, first.conversation, 1]);
  expect((await world.model.asked()).filter(({ prompt }) => prompt.includes("say the first")).length).toBe(1);
}
