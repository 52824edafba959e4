import { expect, test } from "vitest";
import type { AgentName } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

const PROMPT = "say deployed";

/** Arguments with which a user runs one prompt and exits. */
const ONCE: readonly [AgentName, string[]][] = [
  ["claude", ["-p", PROMPT]],
  ["codex", ["exec", "--skip-git-repo-check", PROMPT]],
  ["gemini", ["-p", PROMPT]],
  ["opencode", ["run", PROMPT]],
  ["qwen", ["-p", PROMPT]],
];

test.each(ONCE)(
  "%s: a prompt in the user's own arguments reaches its model in one run only (mend 11)",
  async (agent, words) => {
    await using world = await RealWorld.open();
    await world.spawn(agent, agent, ["--", ...words]);
    await becomes(world, agent, "done");
    const asked = async () => (await world.model.bodies()).filter((body) => JSON.stringify(body).includes(PROMPT)).length;
    const before = await asked();
    expect(before).toBeGreaterThan(0);
    await world.home.ok(["resume", agent]);
    await becomes(world, agent, "idle");
    expect(await asked()).toBe(before);
  },
  300_000,
);
