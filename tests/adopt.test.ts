import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Adoptable, AdoptReply, ErrorBody, Session } from "@holdfast/contract";
import { allProcesses } from "@holdfast/platform";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";
import { OwnTmux } from "./own-tmux.ts";

test("an adopted agent in the user's own tmux is watched, recorded and typed into, and its tmux stays unchanged", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux, "said before");
  const before = tmux.state();

  const { session, missing } = await home.json<AdoptReply>(["adopt", "--tmux", `${tmux.name}:work`, "--name", "mine"]);
  expect(session).toMatchObject({ name: "mine", agent: "actor", host: "foreign", cwd: home.root, kind: "terminal", endedAt: null });
  expect(allProcesses().get(session.pid ?? 0)?.name).toBe("actor");
  expect(missing.join("\n")).toContain("earlier output");
  expect(Date.parse(session.startedAt ?? "")).toBeLessThanOrEqual(Date.parse(session.createdAt));

  await home.ok(["send", "mine", "work on it", "--force"]);
  await home.until("mine", ({ status }) => status === "working");
  expect(tmux.screen()).toContain("work on it");
  expect(await home.ok(["screen", "mine"])).toContain("work on it");
  await home.ok(["keys", "mine", "r", "e", "a", "d", "y", "Enter"]);
  await home.until("mine", ({ status }) => status === "idle");
  tmux.type("may I rest?");
  await home.until("mine", ({ attention }) => attention?.for === "approval");

  const logs = await home.ok(["logs", "mine"]);
  expect(readFileSync(session.outputPath ?? "", "utf8")).toMatch(/^work on it/);
  expect(logs).toContain("not recorded: it was adopted while it ran");
  expect(logs).not.toContain("said before");
  using client = home.client();
  const { events } = await client.call("listEvents", { query: { session: session.id, type: "recording.gap" } });
  expect(events.map(({ data }) => data)).toMatchObject([{ run: 1, offset: 0, bytes: null, why: "it was adopted while it ran" }]);
  expect(statSync(session.outputPath ?? "").mode & 0o077).toBe(0);
  expect(tmux.state()).toBe(before);
});

test("the end of an adopted agent is noticed while its shell continues, later input is refused, and the pane's pipe is free again", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  await adopt(home, tmux, "mine");
  expect(tmux.run("list-panes", "-a", "-F", "#{pane_pipe}")).toBe("1\n");
  await home.ok(["send", "mine", "bye", "--force"]);
  const ended = await home.ended("mine");
  expect(ended).toMatchObject({ status: "lost", cause: "exited", exit: { code: null, signal: null } });
  expect(await home.ok(["show", "mine"])).toContain("the exit code is unknown because Holdfast did not start it");
  const { code, stderr } = await home.cli(["keys", "mine", "x", "Enter"]);
  expect({ code, stderr }).toMatchObject({ code: 6, stderr: expect.stringContaining("has ended") });
  await eventually(() => tmux.run("list-panes", "-a", "-F", "#{pane_pipe}") === "0\n");
  await eventually(() => /\$ *$/m.test(tmux.screen()));
  expect(await home.json<{ due: unknown[] }>(["restore", "ls"])).toMatchObject({ due: [] });
  const unknown = await home.cli(["resume", "mine"]);
  expect(unknown).toMatchObject({ code: 6, stderr: expect.stringContaining("or name it: --conversation ID") });
  await home.ok(["rm", "mine"]);
  expect(existsSync(path.join(home.path, "sessions", ended.id))).toBe(false);
});

test("stop ends the adopted agent and its processes, but not the user's shell or tmux; down --all leaves the agent running", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  const shell = Number(tmux.run("list-panes", "-t", "work", "-F", "#{pane_pid}"));
  await agentIn(tmux);
  const session = await adopt(home, tmux, "mine");
  expect(session.usage?.processes ?? 1).toBe(1);
  expect((await home.json<{ stopped: unknown[] }>(["down", "--all"])).stopped).toEqual([]);
  expect(allProcesses().has(session.pid ?? 0)).toBe(true);

  const { killed } = await home.json<{ killed: { pid: number }[] }[]>(["stop", "mine"]).then(([first]) => first ?? { killed: [] });
  expect(killed.map(({ pid }) => pid)).toEqual([session.pid]);
  expect((await home.session("mine")).status).toBe("stopped");
  expect(allProcesses().has(shell)).toBe(true);
  tmux.type("echo still-$((40 + 2))");
  await eventually(() => tmux.screen().includes("still-42"));
});

test("stop lets an adopted agent reset its terminal and exit in the foreground of its shell (mend 24)", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  const tidied = path.join(home.root, "tidied");
  // Like real agents: on SIGTERM the agent resets the terminal settings, which a background job may not do.
  const agent = `#!/bin/sh\ntrap 'stty sane && touch ${tidied}; exit 0' TERM\nprintf 'ready\\n'\nwhile :; do sleep 0.05; done\n`;
  writeFileSync(path.join(home.root, "bin", "actor"), agent);
  await agentIn(tmux);
  const session = await adopt(home, tmux, "mine");
  const [stopped] = await home.json<{ killed: { pid: number; signal: string }[] }[]>(["stop", "mine"]);
  expect(stopped?.killed.find(({ pid }) => pid === session.pid)).toMatchObject({ signal: "SIGTERM" });
  expect(existsSync(tidied)).toBe(true);
  await eventually(() => /\$ *$/m.test(tmux.screen()));
});

test("after a daemon kill the next one finds the adopted agent with its output from meanwhile", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  const before = await adopt(home, tmux, "mine");
  await home.killDaemon();
  tmux.type("work while nobody looks");
  await eventually(() => tmux.screen().includes("work while nobody looks"));
  const after = await home.until("mine", ({ status }) => status === "working");
  expect(after).toMatchObject({ id: before.id, pid: before.pid, endedAt: null });
  expect(await home.ok(["logs", "mine"])).toContain("work while nobody looks");
  await home.killDaemon();
  tmux.type("bye");
  await eventually(() => !allProcesses().has(before.pid ?? 0));
  expect(await home.ended("mine")).toMatchObject({ cause: "exited", exit: { code: null, signal: null } });
});

test("attach runs the user's own tmux client on their session, and the attachment is listed", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  await adopt(home, tmux, "mine");
  using terminal = openTerminal(home);
  await terminal.command("holdfast attach mine");
  await terminal.shows("[work]");
  terminal.line("work by hand");
  await home.until("mine", ({ status, attachments }) => status === "working" && attachments.length === 1);
  expect(await home.ok(["detach", "mine"])).toBe("mine: 1 terminal detached\n");
  await terminal.shows("[detached");
  expect((await home.session("mine")).endedAt).toBeNull();
});

test("a pane with a user's own pipe keeps it, and is recorded once the pipe ends", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  const theirs = path.join(home.root, "theirs");
  tmux.run("pipe-pane", "-O", "-t", "work", `cat > '${theirs}'`);
  await agentIn(tmux);
  const { session, missing } = await home.json<AdoptReply>(["adopt", "--tmux", `${tmux.name}:work`, "--name", "mine"]);
  expect(missing.join("\n")).toContain("the pane already has a pipe");
  await home.ok(["send", "mine", "work for both", "--force"]);
  await eventually(() => readFileSync(theirs, "utf8").includes("work for both"));
  // The status comes from the screen, though nothing is recorded.
  await home.until("mine", ({ status }) => status === "working");
  expect(existsSync(session.outputPath ?? "")).toBe(false);
  tmux.run("pipe-pane", "-t", "work");
  await eventually(() => tmux.run("list-panes", "-a", "-F", "#{pane_pipe}") === "1\n");
  tmux.type("ready again");
  await eventually(async () => (await home.ok(["logs", "mine"])).includes("ready again"));
});

test("an ended adopted agent resumes its conversation as a run of Holdfast", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux, "--resume", "conversation-4711");
  expect(await adopt(home, tmux, "mine")).toMatchObject({ conversation: "conversation-4711" });
  tmux.type("bye");
  await home.ended("mine");
  expect(await home.ok(["resume", "mine"])).toContain("continues its conversation conversation-4711");
  const next = await home.session("mine");
  expect(next).toMatchObject({ runs: 2, host: "tmux", cwd: home.root });
  await eventually(async () => (await home.ok(["logs", "mine"])).includes("ready --resume conversation-4711"));
});

test("resume --conversation names the conversation of an adopted agent", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  await adopt(home, tmux, "mine");
  tmux.type("bye");
  await home.ended("mine");
  await home.ok(["resume", "mine", "--conversation", "conversation-0815"]);
  await eventually(async () => (await home.ok(["logs", "mine"])).includes("ready --resume conversation-0815"));
  expect(await home.session("mine")).toMatchObject({ conversation: "conversation-0815", runs: 2 });
});

test("an agent on an unreachable terminal is tracked until it ends, and then resumes its conversation", async () => {
  await using home = new TestHome();
  using _tmux = new OwnTmux(home);
  using terminal = openTerminal(home);
  // Like a terminal outside tmux.
  await terminal.command("unset TMUX; actor --resume conversation-4711");
  await terminal.shows("ready --resume");
  const found = (await home.json<Adoptable[]>(["adopt", "--list"])).find(({ command }) => command.includes(home.root));
  const pid = found?.pid ?? 0;
  expect(found).toMatchObject({ agent: "actor", socket: null, target: null, pane: null });
  const { session, missing } = await home.json<AdoptReply>(["adopt", "--pid", String(pid), "--name", "far"]);
  expect(session).toMatchObject({ host: "foreign", pid, status: "unknown", conversation: "conversation-4711" });
  expect(missing.join("\n")).toContain("its terminal: Holdfast cannot reach it");
  for (const words of [
    ["screen", "far"],
    ["keys", "far", "x"],
    ["attach", "far", "--json"],
  ]) {
    const { code, stderr } = await home.cli(words);
    expect({ code, stderr }, words.join(" ")).toMatchObject({ code: 6, stderr: expect.stringContaining("cannot reach its terminal") });
  }
  expect((await home.cli(["resume", "far"])).stderr).toContain("far is running");
  terminal.line("bye");
  await home.ended("far");
  expect(await home.ok(["resume", "far"])).toContain("continues its conversation conversation-4711");
});

test("an agent adopted with --resume-when-ended resumes once, even if no daemon saw the end", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  expect(await refused(home, "--tmux", `${tmux.name}:work`, "--resume-when-ended")).toMatchObject({ code: "conversation_unknown" });
  const flags = ["--conversation", "conversation-4711", "--resume-when-ended"];
  const { session } = await home.json<AdoptReply>(["adopt", "--tmux", `${tmux.name}:work`, "--name", "mine", ...flags]);
  await home.killDaemon();
  tmux.type("bye");
  await eventually(() => !allProcesses().has(session.pid ?? 0));
  await home.until("mine", ({ runs, host, pid }) => runs === 2 && host === "tmux" && pid !== null);
  await eventually(async () => (await home.ok(["logs", "mine"])).includes("ready --resume conversation-4711"));
  await home.ok(["stop", "mine"]);
  await home.killDaemon();
  expect(await home.session("mine")).toMatchObject({ runs: 2, status: "stopped" });
});

test("candidates are listed with the command that adopts them; sessions and their processes are refused", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  expect(await refused(home, "--tmux", `${tmux.name}:work`)).toMatchObject({ code: "not_adoptable" });
  expect(await refused(home, "--tmux", `${tmux.name}:nowhere`)).toMatchObject({ code: "not_adoptable", candidates: ["work"] });
  expect(await refused(home, "--tmux", `${tmux.name}-not:work`)).toMatchObject({ code: "not_adoptable" });
  await agentIn(tmux);
  tmux.run("split-window", "-d", "-t", "work", "actor");
  await eventually(() => tmux.screen("work.1").includes("ready"));
  expect(await refused(home, "--tmux", `${tmux.name}:work`)).toMatchObject({ code: "not_adoptable", candidates: ["work:0.0", "work:0.1"] });

  const agents = await home.json<Adoptable[]>(["adopt", "--list"]);
  const own = agents.filter(({ socket }) => socket?.endsWith(tmux.name));
  expect(own.map(({ agent, target }) => `${agent} ${target}`).sort()).toEqual(["actor work:0.0", "actor work:0.1"]);
  const [{ socket = "" } = {}] = own as { socket: string }[];
  await home.ok(["adopt", "--tmux", `${socket}:work:0.0`]);
  // Inside tmux, a pane can be named as tmux names it.
  await home.ok(["adopt", "--tmux", "work:0.1"], { env: { TMUX: `${socket},1,0` } });
  expect((await home.json<Adoptable[]>(["adopt", "--list"])).filter(({ socket }) => socket?.endsWith(tmux.name))).toEqual([]);
  expect((await refused(home, "--tmux", `${tmux.name}:work.1`)).message).toContain("it is already a session");

  const ours = await home.json<{ pid: number }>(["spawn", "actor"]);
  expect(await refused(home, "--pid", String(ours.pid))).toMatchObject({ code: "not_adoptable" });
});

test("rm releases an adopted agent: it keeps running, its pane is unchanged, and it can be adopted again", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  const { id, pid } = await adopt(home, tmux, "mine");
  expect(await home.ok(["rm", "mine"])).toBe(`mine removed; its agent keeps running, pid ${pid}\n`);
  expect(await home.json<Session[]>(["ls", "--all"])).toEqual([]);
  expect(tmux.run("list-panes", "-a", "-F", "#{pane_pipe}")).toBe("0\n");
  expect(existsSync(path.join(home.path, "sessions", id))).toBe(false);
  expect(readdirSync(path.join(home.path, "adopted"))).toEqual([]);
  tmux.type("work alone");
  await eventually(() => tmux.screen().includes("work alone"));
  const again = await adopt(home, tmux, "mine");
  expect([again.pid, again.id === id]).toEqual([pid, false]);
  const removed = await home.ok(["events", "--type", "session.ended", "--json"]);
  expect(removed).toContain('"cause":"let_go"');
});

test("a release interrupted by a daemon kill is completed by the next daemon, and nothing resumes while the agent runs", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  const { id, pid } = await adopt(home, tmux, "mine", "--conversation", "conversation-4711");
  await home.killDaemon();
  const file = path.join(home.path, "sessions", id, "runs/1/foreign.json");
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, "utf8")) as object), letGo: true }));
  expect(await home.ended("mine")).toMatchObject({ status: "stopped", cause: "let_go" });
  await eventually(() => tmux.run("list-panes", "-a", "-F", "#{pane_pipe}") === "0\n");
  expect(allProcesses().has(pid ?? 0)).toBe(true);
  expect(await home.cli(["resume", "mine"])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining(`is still running on its own (pid ${pid})`),
  });
  tmux.type("bye");
  await eventually(() => !allProcesses().has(pid ?? 0));
  expect(await home.ok(["resume", "mine"])).toContain("continues its conversation conversation-4711");
});

test("agents in a tmux server at any other socket are found with their pane", async () => {
  await using home = new TestHome();
  home.env.TMUX_TMPDIR = path.join(home.root, "elsewhere");
  mkdirSync(home.env.TMUX_TMPDIR);
  using tmux = new OwnTmux(home);
  await agentIn(tmux);
  const { TMUX_TMPDIR: _, ...env } = home.env;
  const [found] = (await home.json<Adoptable[]>(["adopt", "--list"], { env })).filter(({ socket }) => socket?.startsWith(home.root));
  expect(found).toMatchObject({ agent: "actor", target: "work:0.0" });
  const { session } = await home.json<AdoptReply>(["adopt", "--pid", String(found?.pid), "--name", "mine"]);
  expect(session).toMatchObject({ host: "foreign", status: "unknown" });
  await home.ok(["send", "mine", "work on it", "--force"]);
  await eventually(() => tmux.screen().includes("work on it"));
});

test("an adopted conversation without an observed turn can be resumed repeatedly and forked", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await agentIn(tmux, "--resume", "conversation-4711");
  await adopt(home, tmux, "mine");
  await home.ok(["fork", "mine", "--name", "copy"]);
  await eventually(async () => (await home.ok(["screen", "copy"])).includes("ready --fork conversation-4711"));
  tmux.type("bye");
  await home.ended("mine");
  for (const run of [2, 3]) {
    expect(await home.ok(["resume", "mine"])).toContain(`continues its conversation conversation-4711 (run ${run})`);
    await home.ok(["stop", "mine"]);
  }
});

test("a pane with the same number on a later server is a different pane: nothing is typed there", async () => {
  await using home = new TestHome();
  using tmux = new OwnTmux(home);
  await eventually(() => tmux.screen().includes("$"));
  tmux.type("trap '' HUP; actor");
  await eventually(() => /^ready/m.test(tmux.screen()));
  const { pid } = await adopt(home, tmux, "mine");
  process.kill(tmux.serverPid, "SIGKILL");
  await eventually(() => canBegin(tmux));
  await eventually(() => tmux.screen().includes("$"));
  // The agent may outlive its terminal for a moment; its pane is gone in any case.
  const refused = await home.cli(["keys", "mine", "x", "Enter"]);
  expect(refused.code).toBe(6);
  expect((await home.cli(["screen", "mine"])).code).toBe(6);
  expect(tmux.screen()).not.toContain("x");
  if (allProcesses().has(pid ?? 0)) process.kill(pid ?? 0, "SIGKILL");
  await home.ended("mine");
});

async function agentIn(tmux: OwnTmux, ...words: string[]): Promise<void> {
  await eventually(() => tmux.screen().includes("$"));
  tmux.type(["actor", ...words].join(" "));
  await eventually(() => /^ready/m.test(tmux.screen()));
}

async function adopt(home: TestHome, tmux: OwnTmux, name: string, ...flags: string[]) {
  return (await home.json<AdoptReply>(["adopt", "--tmux", `${tmux.name}:work`, "--name", name, ...flags])).session;
}

function canBegin(tmux: OwnTmux): boolean {
  try {
    tmux.begin();
    return true;
  } catch {
    return false;
  }
}

async function refused(home: TestHome, ...flags: string[]): Promise<ErrorBody> {
  const { code, stderr } = await home.cli(["adopt", "--json", ...flags]);
  expect(code).toBe(6);
  return (JSON.parse(stderr) as { error: ErrorBody }).error;
}
