import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, mkdtempDisposableSync, openSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findConversation, type Running } from "./find-conversation.ts";
import { Profiles } from "./profiles/index.ts";
import { conversationInLog } from "./profiles/opencode-log.ts";

const [A, B, C] = ["aaaaaaaa", "bbbbbbbb", "eeeeeeee"].map((id) => `${id}-1111-2222-3333-444444444444`) as [string, string, string];
const profiles = new Profiles();

/** A user's home with an agent in `/work`, running for an hour as pid 7 with a child of pid 8. */
function machine() {
  const place = mkdtempDisposableSync(join(tmpdir(), "hf-find-"));
  const since = Date.now() - 3_600_000;
  const taken = new Set<string>();
  const write = (path: string, content: string, { before = false } = {}) => {
    const file = join(place.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const at = new Date(since + (before ? -60_000 : 60_000));
    utimesSync(file, at, at);
    return file;
  };
  const isTaken = (id: string) => taken.has(id);
  const running: Running = { pids: [7, 8], since, cwd: "/work", env: { HOME: place.path }, known: null, conversations: [], isTaken };
  return {
    place,
    write,
    taken,
    find: (agent: string, more: Partial<Running> = {}) => findConversation(profiles.get(agent), { ...running, ...more }),
  };
}

test("Claude Code's state file names the conversation of a process; a file of an earlier process with that pid is ignored", () => {
  const { place, write, find } = machine();
  using _ = place;
  expect(find("claude")).toBeNull();
  write(".claude/sessions/7.json", JSON.stringify({ sessionId: A }), { before: true });
  expect(find("claude")).toBeNull();
  write(".claude/sessions/7.json", JSON.stringify({ sessionId: B }));
  expect(find("claude")).toBe(B);
});

test("Qwen Code's runtime files name the process of each conversation, and the newest counts", () => {
  const { place, write, find } = machine();
  using _ = place;
  const status = (id: string, pid: number, started_at: number) =>
    write(`.qwen/projects/-work/chats/${id}.runtime.json`, JSON.stringify({ pid, session_id: id, started_at }));
  status("somebody-elses", 9, 30);
  expect(find("qwen")).toBeNull();
  status(A, 8, 10);
  expect(find("qwen")).toBe(A);
  status(B, 8, 20);
  expect(find("qwen")).toBe(B);
});

test("Gemini CLI's conversation is the only one written since its start; with two it is unknown", () => {
  const { place, write, taken, find } = machine();
  using _ = place;
  const chat = (id: string, how?: { before: boolean }) =>
    write(`.gemini/tmp/x/chats/session-2026-01-01T00-00-${id.slice(0, 8)}.jsonl`, `${JSON.stringify({ sessionId: id })}\n{}\n`, how);
  write(".gemini/tmp/x/.project_root", "/work");
  chat(B, { before: true });
  expect(find("gemini")).toBeNull();
  chat(A);
  expect(find("gemini")).toBe(A);
  expect(find("gemini", { cwd: "/elsewhere" })).toBeNull();
  chat(B);
  expect(find("gemini")).toBeNull();
  taken.add(B);
  expect(find("gemini")).toBe(A);
  // Not for an agent with a known conversation, nor for one that has just started: the file may be another agent's.
  expect(find("gemini", { known: B })).toBeNull();
  const since = Date.now() - 10_000;
  const chatNow = (startTime: number) =>
    writeFileSync(
      join(place.path, `.gemini/tmp/x/chats/session-2026-01-01T00-00-${A.slice(0, 8)}.jsonl`),
      `${JSON.stringify({ sessionId: A, startTime: new Date(startTime).toISOString() })}\n`,
    );
  chatNow(since - 5000);
  expect(find("gemini", { since })).toBeNull();
  chatNow(since + 5000);
  expect(find("gemini", { since })).toBe(A);
});

test("a conversation that Gemini CLI begins at /clear is its own, and one that another process begins in its directory is not (truth 7)", () => {
  const { place, write, find, taken } = machine();
  using _ = place;
  const later = (seconds: number) => new Date(Date.now() + 1000 * seconds).toISOString();
  const chat = (sessionId: string, startTime: string) =>
    write(`.gemini/tmp/x/chats/session-2026-01-01T00-00-${sessionId.slice(0, 8)}.jsonl`, `${JSON.stringify({ sessionId, startTime })}\n`);
  const typed = (...all: [sessionId: string, message: string, timestamp: string][]) =>
    write(".gemini/tmp/x/logs.json", JSON.stringify(all.map(([sessionId, message, timestamp]) => ({ sessionId, message, timestamp }))));
  const own = { known: A, conversations: [A] };
  const next = "cccccccc-1111-2222-3333-444444444444";
  write(".gemini/tmp/x/.project_root", "/work");
  chat(A, later(1));
  chat(B, later(20));
  typed([A, "say one", later(2)], [B, "/clear", later(19)]);
  expect(find("gemini", own)).toBeNull();
  typed([A, "say one", later(2)], [A, "/clear", later(19)]);
  expect(find("gemini", own)).toBe(B);
  taken.add(B);
  expect(find("gemini", own)).toBeNull();
  taken.clear();
  // After /clear the log still has the id of the start.
  const cleared = { known: B, conversations: [A, B] };
  expect(find("gemini", cleared)).toBeNull();
  chat(next, later(30));
  expect(find("gemini", cleared)).toBeNull();
  typed([A, "/clear", later(19)], [A, "/new", later(29)]);
  expect(find("gemini", cleared)).toBe(next);
});

const rollout = (id: string) => `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`;

test("the conversation of Codex is the open file that it wrote last, not that of a Codex started by a tool (truth 12)", async () => {
  const { place, write, find } = machine();
  using _ = place;
  const [first, second, tools] = [write(rollout(A), ""), write(rollout(B), ""), write(rollout(C), "")];
  await using codex = await program(place.path, { opens: [first, second] });
  await using tool = await program(place.path, { opens: [tools] });
  const pids = [process.pid, codex.pid, tool.pid];
  expect(find("codex", { pids: [process.pid] })).toBeNull();
  expect(find("codex", { pids })).toBe(B);
  utimesSync(tools, new Date(), new Date());
  // Codex went back to its first conversation.
  utimesSync(first, new Date(), new Date());
  expect(find("codex", { pids })).toBe(A);
});

test("a server that several Codexes share does not tell which conversation is whose, unless their directories do (truth 12)", async () => {
  const { place, write, find } = machine();
  using _ = place;
  const meta = (cwd: string) => `${JSON.stringify({ type: "session_meta", payload: { cwd, source: "cli" } })}\n`;
  const [here, there] = [join(place.path, 'he"re'), join(place.path, "there")];
  const files = [write(rollout(A), meta(here)), write(rollout(B), meta(there)), write(rollout(C), meta(here), { before: true })];
  await using server = await program(place.path, { opens: files, args: ["app-server"] });
  await using one = await program(place.path, { cwd: here });
  const running = { pids: [one.pid, server.pid], cwd: here };
  // The file may be that of a Codex that has ended.
  expect(find("codex", running)).toBeNull();
  for (const file of files.slice(0, 2)) utimesSync(file, new Date(Date.now() + 60_000), new Date(Date.now() + 60_000));
  expect(find("codex", running)).toBe(A);
  expect(find("codex", { ...running, env: { HOME: "/elsewhere" } })).toBeNull();
  {
    await using two = await program(place.path, { cwd: there });
    expect([find("codex", running), find("codex", { pids: [two.pid], cwd: there })]).toEqual([A, B]);
  }
  await using two = await program(place.path, { cwd: here });
  expect([find("codex", running), find("codex", { pids: [two.pid], cwd: here })]).toEqual([null, null]);
});

/** A process named codex that has files open. */
async function program(directory: string, { opens = [], args = [], cwd = "/" }: { opens?: string[]; args?: string[]; cwd?: string }) {
  const codex = join(directory, "codex");
  if (!existsSync(codex)) symlinkSync("/bin/sh", codex);
  mkdirSync(cwd, { recursive: true });
  const redirections = opens.map((_, i) => `${i + 3}<"$${i + 1}"`).join(" ");
  const child = spawn(codex, ["-c", `exec ${redirections}; echo; read line`, args[0] ?? "codex", ...opens], { cwd });
  await once(child.stdout, "data");
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

test("the open file of a Codex subagent is not its conversation (truth 12)", () => {
  const { place, write, find } = machine();
  using _ = place;
  const [own, child] = ["cccccccc-1111-2222-3333-444444444444", "dddddddd-1111-2222-3333-444444444444"];
  const meta = (payload: object) => `${JSON.stringify({ timestamp: "2026-01-03T00:00:00.000Z", type: "session_meta", payload })}\n`;
  const instructions = { base_instructions: { text: "You are a coding agent.".repeat(2000) } };
  const ours = { session_id: own, id: own, source: "cli", thread_source: "user", ...instructions };
  const spawned = { subagent: { thread_spawn: { parent_thread_id: own, depth: 1 } } };
  const theirs = { session_id: own, id: child, parent_thread_id: own, source: spawned, thread_source: "subagent", ...instructions };
  openSync(write(`sessions/rollout-2026-01-03T00-00-00-${own}.jsonl`, meta(ours)), "r");
  openSync(write(`sessions/rollout-2026-01-04T00-00-00-${child}.jsonl`, meta(theirs)), "r");
  expect(find("codex", { pids: [process.pid] })).toBe(own);
});

const START = Date.parse("2026-01-01T00:00:00Z");
const line = (seconds: number, run: string, text: string) =>
  `timestamp=${new Date(START + seconds * 1000).toISOString()} level=INFO run=${run} message=${text}`;

test("opencode's log yields the last conversation of a process, without its subagents'", () => {
  const log = [
    line(-100, "aaaa", '"creating instance" directory=/work'),
    line(-90, "aaaa", "loop session.id=ses_old step=0"),
    line(3, "bbbb", '"creating instance" directory=/work'),
    line(4, "bbbb", "created id=ses_one slug=x parentID=undefined"),
    line(5, "bbbb", "loop session.id=ses_one step=0"),
    line(6, "bbbb", "created id=ses_child slug=y parentID=ses_one"),
    line(7, "bbbb", "loop session.id=ses_child step=0"),
    line(8, "aaaa", "loop session.id=ses_old step=1"),
  ];
  const found = (lines: string[], cwd = "/work") => conversationInLog(lines, { since: START, cwd, others: () => [] });
  expect(found(log)).toBe("ses_one");
  expect(found(log, "/wor")).toBeUndefined();
  expect(found([...log, line(9, "cccc", '"creating instance" directory=/other')])).toBe("ses_one");
});

test.each(["../../etc/x", "*", "--resume", "a b"])("an agent's own file cannot make %j the conversation", (id) => {
  const { place, write, find } = machine();
  using _ = place;
  write(".claude/sessions/7.json", JSON.stringify({ sessionId: id }));
  expect(find("claude")).toBeNull();
  write(".qwen/projects/-work/chats/x.runtime.json", JSON.stringify({ pid: 7, session_id: id, started_at: 1 }));
  expect(find("qwen")).toBeNull();
});

test("of several opencodes in a directory each has the start that was logged before the next one ran (truth 12)", () => {
  const log = [
    line(3, "aaaa", '"creating instance" directory=/work'),
    line(20, "bbbb", '"creating instance" directory="/work"'),
    line(30, "aaaa", "loop session.id=ses_one step=0"),
    line(31, "bbbb", "loop session.id=ses_two step=0"),
  ];
  const found = (since: number, others: number[]) =>
    conversationInLog(log, { since: START + since * 1000, cwd: "/work", others: () => others.map((at) => START + at * 1000) });
  expect([found(0, [15]), found(15, [0])]).toEqual(["ses_one", "ses_two"]);
  // One of the starts may be that of a process that has ended.
  expect(found(0, [])).toBeUndefined();
  expect([found(0, [2]), found(2, [0])]).toEqual([undefined, undefined]);
  expect(found(0, [-10, 15])).toBeUndefined();
});

test("opencode's log is read on from where the last reading ended, and anew when it was replaced (truth 12)", () => {
  const { place, find } = machine();
  using _ = place;
  const path = join(place.path, ".local/share/opencode/log/opencode.log");
  mkdirSync(dirname(path), { recursive: true });
  const running = { since: START, cwd: "/work" };
  expect(find("opencode", running)).toBeNull();
  writeFileSync(path, `${line(3, "aaaa", '"creating instance" directory=/work')}\n${line(4, "aaaa", "loop session.id=ses_o")}`);
  expect(find("opencode", running)).toBeNull();
  appendFileSync(path, `ne step=0\n`);
  expect(find("opencode", running)).toBe("ses_one");
  appendFileSync(path, `${line(5, "aaaa", "loop session.id=ses_two step=0")}\n`);
  expect(find("opencode", running)).toBe("ses_two");
  writeFileSync(path, "");
  expect(find("opencode", running)).toBeNull();
});
