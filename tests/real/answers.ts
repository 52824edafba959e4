import { allProcesses, withEnvironmentEntry } from "@holdfast/platform";
import { expect } from "vitest";
import { type AgentName, IDLE } from "./agents.ts";
import { RealWorld } from "./world.ts";

/** The minimum for a real agent: it starts under Holdfast, takes a prompt, answers, and leaves no process after a stop. */
export async function answersOnItsScreen(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const { id, pid } = await world.start(agent);
  await world.shows(agent, IDLE[agent]);
  await world.prompt(agent, "say the quick brown fox");
  await world.shows(agent, /^\W*the quick brown fox\b/m);
  expect((await world.model.asked()).map(({ prompt }) => prompt)).toContain("say the quick brown fox");

  const processes = () => withEnvironmentEntry(`HOLDFAST_SESSION=${id}`, allProcesses().keys());
  expect([...processes()]).toContain(pid);
  await world.home.ok(["stop", agent]);
  expect([...processes()]).toEqual([]);
}
