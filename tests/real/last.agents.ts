import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Digest, LastReply } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually } from "../home.ts";
import { AGENT_NAMES } from "./agents.ts";
import { HOOKED } from "./status.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

const SLOW_MS = 180_000;

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "its last answer is printed in full, also after a typed prompt, and is in the digest with its turn (SYM-07 resume)",
    async () => {
      await using world = await RealWorld.open();
      await world.spawn(agent);
      await becomes(world, agent, "idle");
      expect((await world.home.cli(["last", agent])).code).toBe(26);
      await world.prompt(agent, "talk 2s; say the tide turns at nine");
      await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
      const last = await eventually(async () => {
        const { code, stdout } = await world.home.cli(["last", agent, "--json"]);
        return code === 0 && (JSON.parse(stdout) as LastReply);
      });
      const isHooked = HOOKED.includes(agent);
      expect(last).toMatchObject({ cut: false, reply: expect.stringMatching(/the tide turns at nine\s*$/) });
      expect(last).toMatchObject(isHooked ? { turn: 1, source: "hook" } : { turn: null, source: "transcript" });
      const digest = await world.home.json<Digest>(["digest", agent]);
      expect(digest).toMatchObject({ news: true, turns: { began: 1, ended: 1 } });
      expect(digest.answers).toMatchObject(isHooked ? [{ turn: 1, text: last.reply }] : []);
      expect(digest.turns.workedMs).toBeGreaterThan(1000);
    },
    SLOW_MS,
  );
});

test(
  "claude with the user's own settings, and so without Holdfast's hooks, is read from its transcript",
  async () => {
    await using world = await RealWorld.open();
    const settings = path.join(world.home.root, "own.json");
    writeFileSync(settings, "{}");
    await world.spawn("claude", "claude", ["--", "--settings", settings]);
    await becomes(world, "claude", "idle");
    await world.prompt("claude", "say the first; talk 1s");
    await becomes(world, "claude", ({ status, turns }) => status === "idle" && turns === 1);
    await world.prompt("claude", "talk 2s; say the tide turns at ten");
    await becomes(world, "claude", ({ status, turns }) => status === "idle" && turns === 2);
    const last = await eventually(async () => {
      const { code, stdout } = await world.home.cli(["last", "claude", "--json"]);
      return code === 0 && stdout.includes("ten") && (JSON.parse(stdout) as LastReply);
    });
    expect(last).toMatchObject({ turn: null, source: "transcript", reply: expect.stringMatching(/the tide turns at ten\s*$/) });
  },
  SLOW_MS,
);
