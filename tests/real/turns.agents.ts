import { describe, expect, test } from "vitest";
import { IDLE, LARGE_AGENTS } from "./agents.ts";
import { endsItsRequestAtEsc, runsWhatWasAllowed } from "./turns.ts";
import { RealWorld } from "./world.ts";

describe.each(LARGE_AGENTS)("%s", (agent) => {
  test("an allowed command runs, and the model gets its result", () => runsWhatWasAllowed(agent));

  test("Esc during a turn ends the request to the model", () => endsItsRequestAtEsc(agent));
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
