import type { RestoreItem } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { pullThePlug } from "../plug.ts";
import { AGENT_NAMES } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Some agents take half a minute to start on a busy machine, and each starts twice here. */
const SLOW_MS = 300_000;

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "after a kill of everything, restore resumes its conversation, and its next answer shows its memory (SYM-06 resume)",
    async () => {
      await using world = await RealWorld.open();
      await world.spawn(agent);
      await becomes(world, agent, "idle");
      await world.prompt(agent, "say periwinkle; talk 2s");
      const before = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
      await pullThePlug(world.home);
      await world.up();
      const { items } = await world.home.json<{ items: RestoreItem[] }>(["restore"]);
      expect(items).toMatchObject([{ name: agent, outcome: "back", conversation: before.conversation }]);
      await becomes(world, agent, "idle");
      await world.prompt(agent, "recall; talk 2s");
      await world.shows(agent, /I remember: periwinkle\./);
      const after = await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
      expect([after.conversation, after.runs]).toEqual([before.conversation, 2]);
    },
    SLOW_MS,
  );
});
