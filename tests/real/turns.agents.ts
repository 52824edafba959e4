import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../home.ts";
import { AGENT_NAMES, type AgentName, IDLE } from "./agents.ts";
import { RealWorld } from "./world.ts";

/** The choice that Enter takes when an agent asks whether it may run a command. */
const ALLOW: Record<AgentName, RegExp> = {
  claude: /❯ 1\. Yes/,
  codex: /› 1\. Yes, proceed/,
  gemini: /● 1\. Allow once/,
  opencode: /Allow once {3}Allow always/,
  qwen: /› 1\. Yes, allow once/,
};

describe.each(AGENT_NAMES)("%s", (agent) => {
  test("a command that was allowed runs, and the model gets its result", async () => {
    await using world = await RealWorld.open();
    const { cwd } = await world.start(agent);
    await world.shows(agent, IDLE[agent]);
    await world.prompt(agent, "tool shell touch made.txt; say it was made");
    await world.shows(agent, ALLOW[agent]);
    expect(existsSync(path.join(cwd, "made.txt"))).toBe(false);
    await world.answer(agent, ALLOW[agent], "Enter");
    await world.shows(agent, /^\W*(The tool answered: .*)?it was made\b/m);
    expect(existsSync(path.join(cwd, "made.txt"))).toBe(true);
    expect((await world.model.asked()).filter(({ results }) => results.length > 0).length).toBe(1);
  });

  test("Esc in mid-turn ends the request to the model", async () => {
    await using world = await RealWorld.open();
    await world.start(agent);
    await world.shows(agent, IDLE[agent]);
    await world.prompt(agent, "say here I go; talk 100s");
    await world.shows(agent, /^\W*here I go bababa/m);
    // One of them wants it twice; to the others a second one means something else.
    for (let press = agent === "opencode" ? 2 : 1; press > 0; press--) await world.home.ok(["keys", agent, "Escape"]);
    await eventually(async () =>
      (await world.model.asked()).some(({ prompt, state }) => prompt.includes("here I go") && state === "aborted"),
    );
  });
});

test("ten sessions of four agents work at once, each on its own prompt (SYM-05 agents)", async () => {
  await using world = await RealWorld.open();
  const agents = (["claude", "codex", "gemini", "qwen"] as const).flatMap((agent, i) => (i < 2 ? [agent, agent, agent] : [agent, agent]));
  const names = agents.map((agent, i) => `${agent}-${i}`);
  for (const [i, agent] of agents.entries()) await world.start(agent, names[i]);
  await Promise.all(
    agents.map(async (agent, i) => {
      const name = names[i] ?? "";
      await world.shows(name, IDLE[agent]);
      await world.prompt(name, `say I am number ${i}; talk 60s`);
      await world.shows(name, new RegExp(`^\\W*I am number ${i} bababa`, "m"));
    }),
  );
  const open = (await world.model.asked()).filter(({ state }) => state === "open").map(({ prompt }) => prompt);
  expect(new Set(open)).toEqual(new Set(agents.map((_, i) => `say I am number ${i}; talk 60s`)));
}, 300_000);
