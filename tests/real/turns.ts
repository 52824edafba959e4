/** Checks for the turns of each real agent. */
import { existsSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { eventually } from "../home.ts";
import { type AgentName, IDLE } from "./agents.ts";
import { interrupt } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** The choice that Enter takes when an agent asks to run a command. */
export const ALLOW: Record<AgentName, RegExp> = {
  claude: /❯ 1\. Yes/,
  codex: /› 1\. Yes, proceed/,
  gemini: /● 1\. Allow once/,
  opencode: /Allow once {3}Allow always/,
  qwen: /› 1\. Yes, allow once/,
};

/** Two turns of one conversation: an agent that mixes them up asks for the first command again. */
export async function runsWhatWasAllowed(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const { cwd } = await world.start(agent);
  await world.shows(agent, IDLE[agent]);
  for (const file of ["made.txt", "again.txt"]) {
    await world.prompt(agent, `tool shell touch ${file}; say now there is ${file}`);
    await world.shows(agent, ALLOW[agent]);
    expect(existsSync(path.join(cwd, file))).toBe(false);
    await world.answer(agent, ALLOW[agent], "Enter");
    await world.shows(agent, new RegExp(`^\\W*(The tool answered: .*)?now there is ${file}`, "m"));
    expect(existsSync(path.join(cwd, file))).toBe(true);
  }
  expect((await world.model.asked()).filter(({ results }) => results.length > 0).length).toBe(2);
}

export async function endsItsRequestAtEsc(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.start(agent);
  await world.shows(agent, IDLE[agent]);
  await world.prompt(agent, "say here I go; talk 100s");
  await world.shows(agent, /^\W*here I go bababa/m);
  await interrupt(world, agent);
  await eventually(async () =>
    (await world.model.asked()).some(({ prompt, state }) => prompt.includes("here I go") && state === "aborted"),
  );
}
