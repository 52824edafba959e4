/** Every turn of a real agent in a worktree can be undone; the agent itself reports the end of a turn. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Checkpoint, Workspace } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually } from "../home.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

test.each(["qwen", "claude", "gemini", "codex", "opencode"] as const)(
  "%s changes files in two turns, and the second is undone (NEW-12 workspaces)",
  async (agent) => {
    await using world = await RealWorld.open();
    const { project, env } = await world.agent(agent);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args], { cwd: project, env: world.home.env });
    git("init", "--quiet", "--initial-branch=main");
    writeFileSync(path.join(project, "a.txt"), "one\n");
    git("add", "a.txt");
    git("commit", "--quiet", "--message=first");
    await world.home.ok(["spawn", agent, "--name", agent, "--worktree"], { cwd: project, env });
    const { path: tree } = JSON.parse(await world.home.ok(["workspace", "show", agent, "--json"])) as Workspace;
    const checkpoints = async () => JSON.parse(await world.home.ok(["checkpoint", "ls", agent, "--json"])) as Checkpoint[];
    const turn = async (number: number, command: string): Promise<Checkpoint> => {
      await world.home.ok(["send", agent, `tool shell ${command}; say turn ${number} is done`]);
      await becomes(world, agent, ({ status, turns }) => status === "waiting" || (status === "idle" && turns === number));
      if ((await world.home.session(agent)).status === "waiting") await world.home.ok(["approvals", "allow", agent]);
      await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === number);
      return await eventually(async () => (await checkpoints()).find((one) => one.turn === number));
    };

    await becomes(world, agent, "idle");
    const first = await turn(1, `echo two > ${path.join(tree, "new.txt")}`);
    expect(first).toMatchObject({ why: "turn", files: 1, branch: `holdfast/${agent}` });
    const second = await turn(2, `rm ${path.join(tree, "a.txt")}`);
    expect(second).toMatchObject({ files: 1 });
    expect((await checkpoints()).map(({ why }) => why)).toEqual(["start", "turn", "turn"]);
    expect(existsSync(path.join(tree, "a.txt"))).toBe(false);
    await world.home.ok(["checkpoint", "rewind", agent, String(first.number)]);
    expect(readFileSync(path.join(tree, "a.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(path.join(tree, "new.txt"), "utf8")).toBe("two\n");
  },
);
