/** A copy of a real agent's conversation continues in another directory, and neither gets the other's turns. Each agent forks in its own way. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Fork } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually } from "../home.ts";
import { AGENT_NAMES } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Some agents take half a minute to start on a busy machine, and each starts three times here. */
const SLOW_MS = 400_000;

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "a fork in a worktree remembers the original's conversation, works there, and is resumed as itself (NEW-13 resume)",
    async () => {
      await using world = await RealWorld.open();
      const { project, env } = await world.agent(agent);
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args], { cwd: project, env: world.home.env });
      git("init", "--quiet", "--initial-branch=main");
      writeFileSync(path.join(project, "a.txt"), "one\n");
      git("add", "a.txt");
      git("commit", "--quiet", "--message=first");
      const copy = `${agent}-fork`;
      const turn = async (name: string, prompt: string, number: number) => {
        await becomes(world, name, "idle");
        await world.prompt(name, `${prompt}; talk 2s`);
        return becomes(world, name, ({ status, turns }) => status === "idle" && turns === number);
      };
      await world.home.ok(["spawn", agent, "--name", agent, "--worktree"], { cwd: project, env });
      const original = await turn(agent, "say periwinkle", 1);
      writeFileSync(path.join(original.cwd, "a.txt"), "changed\n");

      // Sent as soon as the agent takes a message: Gemini takes some before it has read its old conversation.
      const fork = await world.home.json<Fork>(["fork", agent, "--prompt", "say marigold; talk 2s; so be it"]);
      expect(fork).toMatchObject({ files: "checkpoint", forkedFrom: { session: original.id, conversation: original.conversation } });
      expect(readFileSync(path.join(fork.cwd, "a.txt"), "utf8")).toBe("changed\n");
      await becomes(world, copy, ({ status, turns }) => status === "idle" && turns === 1);
      await turn(agent, "say hyacinth", 2);
      await turn(copy, "recall", 2);
      await world.shows(copy, /I remember: periwinkle, marigold\./);
      await turn(agent, "recall", 3);
      await world.shows(agent, /I remember: periwinkle, hyacinth\./);

      await becomes(world, copy, "idle");
      await world.home.ok(["send", copy, `tool shell pwd > ${path.join(world.home.root, "where")}`]);
      await becomes(world, copy, ({ status, turns }) => status === "waiting" || (status === "idle" && turns === 3));
      // The agent may report that it waits before the reason is known.
      if ((await world.home.session(copy)).status === "waiting")
        await eventually(async () => (await world.home.cli(["approvals", "allow", copy])).code === 0);
      const own = await becomes(world, copy, ({ status, turns }) => status === "idle" && turns === 3);
      expect(readFileSync(path.join(world.home.root, "where"), "utf8").trim()).toBe(fork.cwd);
      expect(own.conversation).not.toBeNull();
      expect(own.conversation).not.toBe(original.conversation);
      expect((await world.home.session(agent)).conversation).toBe(original.conversation);

      await world.home.ok(["stop", copy]);
      await world.home.ok(["resume", copy, "--prompt", "recall; talk 2s"]);
      const again = await becomes(world, copy, ({ status, turns }) => status === "idle" && turns === 4);
      const asked = (await world.model.asked()).filter(({ prompt }) => prompt.startsWith("recall"));
      expect(JSON.stringify(asked.at(-1)?.answer).replaceAll(/"},{"text":"/g, "")).toContain("I remember: periwinkle, marigold.");
      expect(again.conversation).toBe(own.conversation);
    },
    SLOW_MS,
  );
});
