/** Trust dialogs of real agents: listed and answered in the inbox, once for all worktrees of a repository. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import type { Approval } from "@holdfast/contract";
import { expect, test } from "vitest";
import { installAgent } from "../../script/real-agents.mjs";
import { eventually } from "../home.ts";
import { setUp } from "./agents.ts";
import { RealWorld } from "./world.ts";

const PATIENCE_MS = 120_000;

// Not Gemini CLI: it answers the prompt before it asks, and exits (199) to be restarted once it is trusted.
test.each(["claude", "codex", "qwen"] as const)("%s: one answer lets a tournament of three start (mend 17)", async (agent) => {
  await using world = await RealWorld.open();
  await installAgent(agent);
  const [home, project] = [path.join(world.home.root, "home"), path.join(world.home.root, "app")];
  const { env } = setUp(agent, { home, project, url: world.model.url }, "untrusted");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd: project });
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "-m", "first");
  // Codex creates its database at its first start; several simultaneous first starts break it.
  if (agent === "codex") await beginOnce(world, { project, env });
  const start = ["spawn", "--best-of", "3", "--agents", agent, "--name", "fix", "--prompt", "say the end"];
  await world.home.ok(start, { cwd: project, env });
  const asked = await eventually(
    async () => (await world.home.json<Approval[]>(["approvals"])).find(({ for: what }) => what === "trust"),
    PATIENCE_MS,
    200,
  );
  expect(asked).toMatchObject({ agent, channel: "screen", answers: expect.arrayContaining(["allow", "deny"]) });
  await world.home.ok(["approvals", "allow", asked.id]);
  for (const name of ["fix-1", "fix-2", "fix-3"]) {
    await eventually(
      async () => {
        const { status, turns } = await world.home.session(name);
        return status === "idle" && turns === 1;
      },
      PATIENCE_MS,
      200,
    );
  }
});

/** Starts Codex once, until it asks. */
async function beginOnce(world: RealWorld, how: { project: string; env: Record<string, string> }): Promise<void> {
  await world.home.ok(["spawn", "codex", "--name", "first"], { cwd: how.project, env: how.env });
  await eventually(async () => (await world.home.json<Approval[]>(["approvals"])).length > 0, PATIENCE_MS, 200);
  await world.home.ok(["stop", "first"]);
}

// Each choice leads to a form for the key, or a browser, which a person fills in after attaching.
test.each([
  ["codex", "3", /API key/],
  ["gemini", "Use Gemini API Key", /API Key/],
  ["qwen", "3", /Custom|Protocol|protocol/],
] as const)("%s: a login method is chosen from the inbox (mend 17)", async (agent, choice, next) => {
  await using world = await RealWorld.open();
  await installAgent(agent);
  const [home, project] = [path.join(world.home.root, "home"), path.join(world.home.root, "app")];
  const { env } = setUp(agent, { home, project, url: world.model.url }, "logged-out");
  await world.home.ok(["spawn", agent, "--name", "new"], { cwd: project, env });
  const offered = async () =>
    (await world.home.json<Approval[]>(["approvals"])).find(({ for: what, answers }) => what === "login" && answers.length > 0);
  const asked = await eventually(offered, PATIENCE_MS, 200);
  expect(asked).toMatchObject({ agent, channel: "screen", answers: ["answer"] });
  expect((await world.home.cli(["approvals", "allow", asked.id])).code).toBe(27);
  // A screen drawn a moment later is another dialog, with its own approval.
  const isAnswered = async () => {
    const now = await offered();
    return now !== undefined && (await world.home.cli(["approvals", "answer", now.id, choice])).code === 0;
  };
  await eventually(isAnswered, PATIENCE_MS, 200);
  const first = (asked.input as { screen: string }).screen.split("\n");
  await eventually(
    async () => {
      const shown = await world.home.ok(["screen", "new"]);
      return next.test(shown) && !first.every((line) => shown.includes(line));
    },
    PATIENCE_MS,
    200,
  );
});
