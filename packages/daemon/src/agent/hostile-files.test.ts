/** An agent, or any program that it runs, can put anything in the place of the agent's own files. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ChatFiles } from "./chat-files.ts";
import { findConversation } from "./find-conversation.ts";
import { claude } from "./profiles/claude.ts";
import { codex } from "./profiles/codex.ts";
import { gemini } from "./profiles/gemini.ts";
import { copyGeminiConversation, findGeminiConversation } from "./profiles/gemini-store.ts";
import { opencode } from "./profiles/opencode.ts";
import { copyQwenConversation } from "./profiles/qwen-store.ts";
import { readStateFile } from "./status/state-file.ts";
import type { Transcript } from "./transcript.ts";
import type { UsageSource } from "./usage-source.ts";

const conversation = "a99ba8dd-a9fc-47f5-981c-003630ba2799";
const since = "2026-01-01T00:00:00.000Z";

let place: ReturnType<typeof mkdtempDisposableSync>;
let of: { conversation: string; cwd: string; env: { HOME: string } };

beforeEach(() => {
  place = mkdtempDisposableSync(join(tmpdir(), "hf-hostile-"));
  of = { conversation, cwd: "/work", env: { HOME: place.path } };
});

afterEach(() => place.remove());

function at(path: string): string {
  const file = join(place.path, path);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

function pipe(path: string): string {
  const file = at(path);
  execFileSync("mkfifo", [file]);
  return file;
}

const running = () => ({ ...of, pids: [7], since: 0, known: null, conversations: [], isTaken: () => false });
const copy = () => ({ from: conversation, id: "b0000000-0000-0000-0000-000000000000", directory: "/work", env: of.env, program: [] });

test("a pipe in the place of Gemini's mark is passed over", () => {
  pipe(".gemini/tmp/a/.project_root");
  expect(findGeminiConversation(running())).toBeUndefined();
  writeFileSync(at(".gemini/tmp/b/.project_root"), "/work");
  const head = JSON.stringify({ sessionId: conversation, startTime: since });
  writeFileSync(at(".gemini/tmp/b/chats/session-2026-01-01T00-00-a99ba8dd.jsonl"), `${head}\n`);
  expect(findGeminiConversation(running())).toBe(conversation);
});

test("a pipe in the place of a conversation cannot be copied", async () => {
  pipe(`.qwen/projects/-work/chats/${conversation}.jsonl`);
  await expect(copyQwenConversation(copy())).rejects.toMatchObject({ code: "conversation_unknown" });
  await expect(copyGeminiConversation(copy())).rejects.toMatchObject({ code: "conversation_unknown" });
});

const DATABASE = ".local/share/opencode/opencode.db";
const TABLES =
  "CREATE TABLE message (id, session_id, data); CREATE TABLE part (id, message_id, session_id, data); CREATE TABLE session (id, parent_id);";

function opencodeReads(): unknown {
  const { store } = opencode.transcript as Transcript;
  return [store?.read(of, "").entries.length, opencode.usage?.read(conversation, undefined, of).calls.length];
}

test("pipes in the place of opencode's database and its journal are not opened", () => {
  pipe(DATABASE);
  expect(opencodeReads()).toEqual([0, 0]);
  place.remove();
  using db = new DatabaseSync(at(DATABASE));
  db.exec(TABLES);
  pipe(`${DATABASE}-journal`);
  expect(opencodeReads()).toEqual([0, 0]);
});

test("a view in the place of opencode's table is not read: it may never end", () => {
  using db = new DatabaseSync(at(DATABASE));
  db.exec(`CREATE VIEW Message AS WITH RECURSIVE
    r (id, data, session_id) AS (SELECT 'a', '{}', 'x' UNION ALL SELECT id || 'a', '{}', 'x' FROM r) SELECT * FROM r`);
  expect(opencodeReads()).toEqual([0, 0]);
});

test("messages of opencode with an impossible time or a huge text do not hide the others", () => {
  using db = new DatabaseSync(at(DATABASE));
  db.exec(TABLES);
  const tokens = { input: 1, output: 2 };
  const message = (id: string, completed: number, more: object = {}) =>
    db
      .prepare("INSERT INTO message VALUES (?, ?, ?)")
      .run(id, conversation, JSON.stringify({ role: "assistant", parentID: "p", tokens, time: { completed }, ...more }));
  message("msg_1", 1e20);
  message("msg_2", Date.parse(since), { padding: "x".repeat(300_000) });
  message("msg_3", Date.parse(since));
  const calls = (opencode.usage as UsageSource).read(conversation, undefined, of).calls;
  expect(calls.map(({ id, at: time }) => [id, time])).toEqual([
    ["msg_1", null],
    ["msg_3", since],
  ]);
  expect((opencode.transcript as Transcript).store?.read(of, "").entries.map(({ id }) => id)).toEqual(["msg_2", "msg_3"]);
});

test("an entry that no reader understands hides no usage", () => {
  const file = at(`.claude/projects/-work/${conversation}.jsonl`);
  const call = (id: unknown) => ({ type: "assistant", timestamp: since, message: { id, model: "m", usage: { input_tokens: 1 } } });
  const odd = { toString: 1, valueOf: 1 };
  writeFileSync(file, [call(odd), call("a")].map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  expect(claude.usage?.read(file, undefined, of).calls.map(({ id }) => id)).toEqual(["a undefined"]);
});

test("a call from the future does not hide the calls of a file that replaces it", () => {
  const file = at(`.claude/projects/-work/${conversation}.jsonl`);
  const call = (id: string, timestamp: string) =>
    `${JSON.stringify({ type: "assistant", timestamp, message: { id, model: "m", usage: { input_tokens: 1 } } })}\n`;
  writeFileSync(file, call("a", "9998-01-01T00:00:00.000Z") + call("b", since));
  const first = claude.usage?.read(file, undefined, of);
  writeFileSync(file, call("c", "2026-01-02T00:00:00.000Z"));
  expect(claude.usage?.read(file, first?.state, of).calls).toHaveLength(1);
});

test("a file in the place of a directory hides nothing else", () => {
  writeFileSync(at(".gemini/tmp/a/chats"), "");
  const file = at(".gemini/tmp/b/chats/session-2026-01-01T00-00-a99ba8dd.jsonl");
  writeFileSync(file, "");
  expect(gemini.usage?.places(of)).toEqual([file]);
  const own = at(`.claude/projects/-work/${conversation}.jsonl`);
  writeFileSync(own, "");
  writeFileSync(at(`.claude/projects/-work/${conversation}/subagents`), "");
  expect(claude.usage?.places(of)).toEqual([own]);
});

test("a state file that is too large to be one is ignored", () => {
  const file = at(".claude/sessions/7.json");
  const state = { status: "idle", statusUpdatedAt: Date.now(), sessionId: conversation };
  const read = () => claude.stateFile && readStateFile(claude.stateFile, { pid: 7, env: of.env, startedAt: since });
  writeFileSync(file, JSON.stringify(state));
  expect([read()?.claim.turn, findConversation(claude, running())]).toEqual(["idle", conversation]);
  writeFileSync(file, JSON.stringify({ ...state, padding: "x".repeat(100_000) }));
  expect([read(), findConversation(claude, running())]).toEqual([undefined, null]);
});

test("a conversation that was found is not searched for again, unless its file is gone", () => {
  const file = at(`.claude/projects/-work/${conversation}.jsonl`);
  const path = () => claude.transcript?.path(of);
  expect(path()).toBeUndefined();
  writeFileSync(file, "");
  expect(path()).toBe(file);
  const other = at(`.claude/projects/-another/${conversation}.jsonl`);
  writeFileSync(other, "");
  expect(path()).toBe(file);
  rmSync(file);
  expect(path()).toBe(other);
});

test("an entry with an impossible time has none", () => {
  const file = at(`.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${conversation}.jsonl`);
  const started = (timestamp: unknown) => `${JSON.stringify({ timestamp, type: "event_msg", payload: { type: "task_started" } })}\n`;
  writeFileSync(file, started("zzz") + started(1e300) + started({ toString: 1 }));
  using chat = ChatFiles.open(codex.transcript as Transcript, of, () => {});
  expect(chat?.read(of, since).known).toBeNull();
  appendFileSync(file, started("2026-01-01T02:00:00+01:00"));
  expect(chat?.read(of, since).known).toEqual({ turn: "working", at: "2026-01-01T01:00:00.000Z" });
});

test("a line without an end is read once, and later lines count", () => {
  const file = at(`.claude/projects/-work/${conversation}.jsonl`);
  writeFileSync(file, Buffer.alloc(9 << 20, "x"));
  using chat = ChatFiles.open(claude.transcript as Transcript, of, () => {});
  expect(chat?.read(of, since).written).toEqual([]);
  const before = bytesRead();
  expect(chat?.read(of, since).written).toEqual([]);
  expect(bytesRead() - before).toBeLessThan(1 << 20);
  const prompt = { type: "user", uuid: "u", timestamp: since, message: { content: "hello" } };
  appendFileSync(file, `\n${JSON.stringify(prompt)}\n`);
  expect(chat?.read(of, since).written).toMatchObject([{ turn: "u", prompt: "hello" }]);
});

/** Bytes that this process has read; 0 where the system does not tell. */
function bytesRead(): number {
  return existsSync("/proc/self/io") ? Number(/^rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]) : 0;
}
