/** Agents started outside Holdfast, with the configuration that `mcp install` wrote. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { AuditEntry, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { allowing, call } from "./together.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** One prompt without a terminal, and without anybody to approve. */
const ALONE: Record<AgentName, (prompt: string) => string[]> = {
  claude: (prompt) => ["-p", prompt, "--allowedTools", "mcp__holdfast__run_shell"],
  codex: (prompt) => ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
  gemini: (prompt) => ["--yolo", "-p", prompt],
  // opencode quotes the words of its command line, so it gets the prompt by a pipe.
  opencode: () => ["run"],
  qwen: (prompt) => ["--yolo", "-p", prompt],
};

test.each(["qwen", "gemini", "claude", "codex", "opencode"] as const)(
  "%s, started outside Holdfast, has the tools from mcp install, and acts as its user",
  async (agent) => {
    await using world = await RealWorld.open();
    const { command, env, project } = await world.agent(agent);
    const printed = await world.home.ok(["mcp", "install", agent, "--write"], { env });
    expect(printed).toMatch(/^written: /);
    expect(await world.home.ok(["mcp", "install", agent, "--write"], { env })).toMatch(/^there already: /);
    const prompt = `${call(agent, "run_shell", { name: "made-there", command: "exec sleep 1000" })}\nsay it runs`;
    const [program = "", ...args] = [...world.model.prefix, ...command, ...ALONE[agent](prompt)];
    const running = promisify(execFile)(program, args, { cwd: project, env, timeout: 100_000, maxBuffer: 2 ** 24 });
    // Some agents wait for the end of standard input.
    running.child.stdin?.end(agent === "opencode" ? prompt : "");
    const { stdout } = await running;
    expect(stdout).toContain("it runs");
    const results = (await world.model.asked()).flatMap(({ results = [] }) => results).join("\n");
    expect(results, "what the tool answered").toContain("made-there");

    const [session] = await world.home.json<Session[]>(["ls"]);
    expect(session).toMatchObject({ name: "made-there", status: "working", kind: "shell", parent: null, cwd: project });
    expect(session?.owner).toMatch(/^user:/);
    expect((await world.home.json<AuditEntry[]>(["audit"])).map(({ what }) => what)).toContainEqual(
      expect.stringMatching(/^started made-there/),
    );
  },
);

test.each([
  ["claude", []],
  ["codex", []],
  ["qwen", []],
  ["opencode", []],
  ["gemini", ["--chat"]],
] as const)("%s with that entry, started by Holdfast, still acts as its session", async (agent, flags) => {
  await using world = await RealWorld.open();
  const { env, project } = await world.agent(agent);
  await world.home.ok(["mcp", "install", agent, "--write"], { env });
  const { id } = await world.home.json<Session>(["spawn", agent, "--name", agent, ...flags], { cwd: project, env });
  await becomes(world, agent, "idle");
  await using _inbox = allowing(world);
  await world.home.ok(["send", agent, `${call(agent, "report_progress", { text: "half of it" })}\nsay told`]);
  const { progress } = await eventually(
    async () => {
      const now = await world.home.session(agent);
      return now.progress !== null && now;
    },
    60_000,
    200,
  );
  expect(progress?.text).toBe("half of it");
  expect((await world.home.json<AuditEntry[]>(["audit"])).map(({ actor, what }) => [actor, what])).toContainEqual([
    `session:${id}`,
    `reported the progress of ${agent}: half of it`,
  ]);
});
