import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Message } from "@holdfast/contract";
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { ALLOW } from "./turns.ts";
import { becomes, explain, interrupt, statuses } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Agents that accept hooks in any home. */
export const HOOKED: readonly AgentName[] = ["claude", "codex", "opencode", "qwen"];

/** Agents that do not show their own prompt while the request waits in the inbox. */
const ASK_ELSEWHERE: readonly AgentName[] = ["codex", "qwen"];

/** Holdfast's status of a real agent is true and has a source, and each turn counts once. */
export async function followsStatus(agent: AgentName, hooked = HOOKED.includes(agent)): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  const { conversation: given } = await becomes(world, agent, "idle");

  await world.prompt(agent, "say the quick brown fox; talk 3s");
  const { turns, conversation } = await becomes(world, agent, "working");
  expect(turns).toBe(1);
  if (given !== null) expect(conversation).toBe(given);
  await becomes(world, agent, "idle");

  await world.prompt(agent, "tool shell touch made.txt; say it was made");
  const { turn, attention } = await becomes(world, agent, "waiting");
  expect(turn).toBe("working");
  expect(attention?.for).toBe("approval");
  if (hooked) expect(attention?.text).toContain("touch made.txt");
  const { sources, attention: why } = await explain(world, agent);
  expect(sources.includes("hook")).toBe(hooked);
  expect(why?.evidence.source).toBe(hooked ? "hook" : "screen");
  if (ASK_ELSEWHERE.includes(agent)) await world.home.ok(["approvals", "allow", agent]);
  else await world.answer(agent, ALLOW[agent], "Enter");
  await becomes(world, agent, ({ status, attention }) => status === "idle" && attention === null);

  await world.prompt(agent, "say here I go; talk 100s");
  await becomes(world, agent, "working");
  await world.shows(agent, /^\W*here I go bababa/m);
  await interrupt(world, agent);
  const last = await becomes(world, agent, "idle");
  expect(last.turns).toBe(3);
  expect(last.conversation).toMatch(/^[\w-]{20,}$/);
  expect(last.conversation).toBe(conversation ?? last.conversation);
  const had = await statuses(world, agent);
  const approval = ["waiting for approval"];
  // Without hooks, a status shorter than the polling interval is not seen.
  if (hooked) expect(had).toEqual(["working", "idle", "working", ...approval, "working", "idle", "working", "idle"]);
  else expect(had.filter((_, i) => !isBrief(had, i))).toEqual(["working", "idle", ...approval, "idle", "working", "idle"]);
}

/** Follows turns shorter than the polling interval for an agent without hooks, and a second conversation in the same process. */
export async function followsItsChat(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  const { conversation } = await becomes(world, agent, "idle");
  for (const word of ["one", "two", "three"]) await world.home.ok(["send", agent, `say ${word}`]);
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 3);
  expect(await statuses(world, agent)).toEqual(["working", "idle", "working", "idle", "working", "idle"]);
  const told = (await world.home.json<Message[]>(["messages", agent])).map(({ text, evidence }) => [text, evidence]);
  expect(told.sort()).toEqual(["one", "three", "two"].map((word) => [`say ${word}`, "it wrote the prompt down"]));

  await world.prompt(agent, "/clear");
  const cleared = await becomes(world, agent, (session) => session.conversation !== conversation);
  await world.prompt(agent, "say four");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 4);
  await world.home.ok(["stop", agent]);
  await world.home.ok(["resume", agent, "--prompt", "recall"]);
  await world.shows(agent, /I remember: four\./);
  expect((await world.home.session(agent)).conversation).toBe(cleared.conversation);
}

/** While Codex starts its MCP servers, its title shows the spinner of a turn below a resumed conversation. */
export async function hasNoTurnWhileItStarts(): Promise<void> {
  await using world = await RealWorld.open();
  const { project, env, home } = await world.agent("codex");
  await world.home.ok(["spawn", "codex", "--name", "codex"], { cwd: project, env });
  await becomes(world, "codex", "idle");
  await world.prompt("codex", "say fox; talk 2s");
  await becomes(world, "codex", ({ status, turns }) => status === "idle" && turns === 1);
  await world.home.ok(["stop", "codex"]);

  const go = path.join(world.home.root, "go");
  const server = JSON.stringify(["-c", `until [ -e ${go} ]; do sleep 0.1; done`]);
  appendFileSync(path.join(home, ".codex/config.toml"), `\n[mcp_servers.slow]\ncommand = "sh"\nargs = ${server}\n`);
  await world.home.ok(["resume", "codex"], { cwd: project, env });
  await eventually(async () => /^[⠀-⣿] /.test((await world.screen("codex")).title));
  expect(await world.home.session("codex")).toMatchObject({ status: "idle", turns: 1 });
  writeFileSync(go, "");
  await world.home.ok(["send", "codex", "recall"]);
  await world.shows("codex", /I remember: fox\./);
  await becomes(world, "codex", ({ status, turns }) => status === "idle" && turns === 2);
}

/** A subagent's hooks arrive too, with their own ids. */
export async function isNotEndedByASubagent(): Promise<void> {
  await using world = await RealWorld.open();
  await world.spawn("codex");
  await becomes(world, "codex", "idle");
  await world.prompt("codex", 'tool spawn_agent {"message":"say I am a subagent"}; say the parent goes on; talk 100s');
  const { conversation } = await becomes(world, "codex", "working");
  const ended = async () => (await world.model.asked()).some(({ prompt, state }) => prompt === "say I am a subagent" && state === "ended");
  await eventually(ended, 60_000, 100);
  await world.shows("codex", /the parent goes on bababa/);
  await interrupt(world, "codex");
  const last = await becomes(world, "codex", "idle");
  expect([last.turns, last.conversation]).toEqual([1, conversation]);
  expect(await statuses(world, "codex")).toEqual(["working", "idle"]);
}

/** Codex asks before it runs a user's own hooks: trust in Holdfast's hooks covers no others. */
export async function asksAboutOtherHooks(): Promise<void> {
  await using world = await RealWorld.open();
  const theirs = 'hooks.Stop=[{hooks=[{type="command",command="true"}]}]';
  await world.spawn("codex", "codex", ["--", "-c", theirs]);
  const { attention } = await becomes(world, "codex", "waiting");
  expect(attention).toMatchObject({ for: "trust", text: "Hooks need review" });
  expect((await explain(world, "codex")).sources).not.toContain("hook");
}

function isBrief(had: string[], i: number): boolean {
  return had[i] === "working" && [had[i - 1], had[i + 1]].some((next) => next?.startsWith("waiting"));
}

/** The agent's spinner turns while its model holds the answer back. */
export async function isHungWhileItsModelHolds(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const configuration = path.join(world.home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(path.join(configuration, "config.toml"), 'hung_after = "12s"\n');
  // Restart the daemon here: one that `spawn` starts would read the configuration of the agent's home.
  await world.home.ok(["down"]);
  await world.up();
  await world.spawn(agent);
  await becomes(world, agent, "idle");
  await world.prompt(agent, "wait 120s; say too late");
  const { hung, idleMs } = await becomes(world, agent, ({ status, hung: is }) => status === "working" && is);
  expect([hung, (idleMs ?? 0) < 12_000]).toEqual([true, true]);
  await interrupt(world, agent);
  expect(await becomes(world, agent, "idle")).toMatchObject({ hung: false });
}

/** Holdfast reports a background command from the end of the turn until the command ends. */
export async function leavesSomethingRunning(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const { cwd } = await world.spawn(agent);
  writeFileSync(path.join(cwd, "hold.sh"), "touch begun\nuntil [ -e over ]; do sleep 0.1; done\n");
  await becomes(world, agent, "idle");
  await world.prompt(agent, "say first");
  await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
  await world.prompt(
    agent,
    `tool ${agent === "opencode" ? "shell sh hold.sh > /dev/null 2>&1 &" : "background sh hold.sh"}; say it runs now`,
  );
  expect((await becomes(world, agent, "waiting")).background).not.toBe(true);
  await world.home.ok(["approvals", "allow", agent]);
  await eventually(() => existsSync(path.join(cwd, "begun")), 60_000, 100);
  await becomes(world, agent, ({ status, background }) => status === "idle" && background === true);
  writeFileSync(path.join(cwd, "over"), "");
  await becomes(world, agent, ({ status, background }) => status === "idle" && background === false);
}
