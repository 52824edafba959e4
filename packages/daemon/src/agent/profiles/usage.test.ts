/** Usage records of each agent, as recorded from the real ones. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Profile } from "../profile.ts";
import type { Call } from "../usage-source.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { demo } from "./demo.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";

const CONVERSATION = "38490f43-7815-44cf-a975-b6afbbf3fdf3";
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-usage-"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, ...lines: unknown[]): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** All its calls, in the order of places. */
function used(profile: Profile, env: Record<string, string> = {}, conversation = CONVERSATION): Call[] {
  const of = { conversation, cwd: "/project", env: { HOME: home, ...env } };
  const { usage } = profile;
  return (usage?.places(of) ?? []).flatMap((place) => usage?.read(place, undefined, of).calls ?? []);
}

const NO_CACHE = { cacheRead: 0, cacheWrite: 0, cost: null, context: null };

function claudeLine(id: string, usage: object, more: object = {}) {
  const message = { id, model: "claude-opus-5-5", usage, content: [] };
  return { type: "assistant", timestamp: "2026-11-15T17:56:15.804Z", requestId: "req_1", message, ...more };
}

test("claude: several lines of a message are one call; subagents count too", () => {
  const usage = { input_tokens: 4175, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 2 };
  write(
    `.claude/projects/-project/${CONVERSATION}.jsonl`,
    { type: "user", timestamp: "2026-11-15T17:56:12.587Z" },
    claudeLine("msg_1", usage),
    claudeLine("msg_1", { ...usage, output_tokens: 9 }),
    { ...claudeLine("msg_2", usage), message: { id: "msg_2", model: "<synthetic>", usage } },
    { type: "assistant", message: {} },
  );
  write(`.claude/projects/-project/${CONVERSATION}/subagents/agent-1.jsonl`, claudeLine("msg_3", { input_tokens: 1, output_tokens: 1 }));
  write(`.claude/projects/-project/${CONVERSATION}/subagents/agent-1.meta.json`, {});
  const at = "2026-11-15T17:56:15.804Z";
  const model = "claude-opus-5-5";
  expect(used(claude)).toEqual([
    { id: "msg_1 req_1", at, model, input: 4175, output: 2, cacheRead: 300, cacheWrite: 20, cost: null, context: null },
    { id: "msg_1 req_1", at, model, input: 0, output: 7, cacheRead: 0, cacheWrite: 0, cost: null, context: null },
    { id: "msg_3 req_1", at, model, input: 1, output: 1, ...NO_CACHE },
  ]);
  expect(used(claude, {}, "another")).toEqual([]);
});

test("codex: the model comes with the turn, and a repeated report counts once", () => {
  const line = (total: number, last: object | null, type = "token_count") => ({
    timestamp: `2026-11-15T17:56:35.${String(total).padStart(3, "0")}Z`,
    type: "event_msg",
    payload: { type, info: last && { total_token_usage: { total_tokens: total }, last_token_usage: last, model_context_window: 1000 } },
  });
  const last = { input_tokens: 60, cached_input_tokens: 40, cache_write_input_tokens: 5, output_tokens: 2, total_tokens: 62 };
  write(
    `.codex/sessions/2026/11/15/rollout-2026-11-15T17-56-33-${CONVERSATION}.jsonl`,
    line(0, null),
    { type: "turn_context", payload: { model: "gpt-5" } },
    line(62, last),
    line(62, last),
    line(100, { input_tokens: 30, output_tokens: 8 }),
  );
  const all = used(codex);
  expect(all).toMatchObject([
    {
      at: "2026-11-15T17:56:35.062Z",
      model: "gpt-5",
      input: 15,
      output: 2,
      cacheRead: 40,
      cacheWrite: 5,
      context: { used: 62, size: 1000 },
    },
    { model: "gpt-5", input: 30, output: 8, cacheRead: 0, cacheWrite: 0, context: null },
  ]);
  // The second call uses the cached file list.
  expect(used(codex)).toEqual(all);
  expect(used(codex, { CODEX_HOME: join(home, "elsewhere") })).toEqual([]);
});

test("gemini: a message is repeated with its tokens; thoughts count as output", () => {
  const tokens = { input: 100, output: 20, cached: 60, thoughts: 7, tool: 0, total: 127 };
  write(
    ".gemini/tmp/project/chats/session-2026-11-15T17-56-38490f43.jsonl",
    { sessionId: CONVERSATION },
    { id: "m1", type: "gemini", model: "gemini-2.5-pro", content: "", timestamp: "2026-11-15T17:56:15.804Z" },
    { id: "m1", type: "gemini", model: "gemini-2.5-pro", timestamp: "2026-11-15T17:56:15.804Z", tokens },
    { id: "m1", type: "gemini", model: "gemini-2.5-pro", timestamp: "2026-11-15T17:56:15.804Z", tokens, toolCalls: [] },
    { id: "m2", type: "user" },
  );
  const call = { id: "m1", at: "2026-11-15T17:56:15.804Z", model: "gemini-2.5-pro", input: 40, output: 27, cacheRead: 60, cacheWrite: 0 };
  expect(used(gemini)).toEqual([{ ...call, cost: null, context: null }]);
  expect(used(gemini, { HOME: "/nowhere", GEMINI_CLI_HOME: home })).toHaveLength(1);
});

test("qwen: the output is the total minus the prompt, whatever the provider counts as thought; subagents count too", () => {
  const usage = {
    promptTokenCount: 100,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 5,
    totalTokenCount: 120,
    cachedContentTokenCount: 30,
  };
  const line = (uuid: string, usageMetadata: object) => ({
    uuid,
    type: "assistant",
    model: "qwen3-coder-plus",
    timestamp: "2026-11-15T18:03:35.877Z",
    usageMetadata,
    contextWindowSize: 1000,
  });
  write(`.qwen/projects/-project/chats/${CONVERSATION}.jsonl`, { type: "user" }, line("u1", usage), { type: "assistant" });
  write(`.qwen/projects/-project/subagents/${CONVERSATION}/agent-1.jsonl`, line("u2", { promptTokenCount: 3, candidatesTokenCount: 4 }));
  expect(used(qwen)).toMatchObject([
    { id: "u1", model: "qwen3-coder-plus", input: 70, output: 20, cacheRead: 30, cacheWrite: 0, context: { used: 100, size: 1000 } },
    { id: "u2", input: 3, output: 4, cacheRead: 0 },
  ]);
  expect(used(qwen, { QWEN_HOME: "elsewhere" })).toEqual([]);
});

test("demo: reported values are read, missing ones are null", () => {
  const line = {
    used: { id: "1", at: "2026-11-15T18:03:35.877Z", model: "demo", input: 3, output: null, cacheRead: 0, cacheWrite: 0, cost: 0.5 },
  };
  const fill = { used: { ...line.used, id: "2", cost: undefined, context: 10, contextSize: 100 } };
  write(`.local/state/holdfast-demo/${CONVERSATION}.jsonl`, { prompt: "hello" }, line, fill, { said: "x" });
  expect(used(demo)).toEqual([
    { ...line.used, context: null },
    { ...line.used, id: "2", cost: null, context: { used: 10, size: 100 } },
  ]);
});

function opencodeDatabase(): DatabaseSync {
  const file = join(home, ".local/share/opencode/opencode.db");
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  db.exec(
    "PRAGMA journal_mode = WAL; CREATE TABLE session (id TEXT, parent_id TEXT); CREATE TABLE message (id TEXT, session_id TEXT, data TEXT)",
  );
  return db;
}

test("opencode: complete messages of its database count, including those of subagents", () => {
  using db = opencodeDatabase();
  db.exec("INSERT INTO session VALUES ('ses_1', NULL), ('ses_2', 'ses_1'), ('ses_3', NULL)");
  const add = (id: string, session: string, data: object | string) =>
    db.prepare("INSERT INTO message VALUES (?, ?, ?)").run(id, session, typeof data === "string" ? data : JSON.stringify(data));
  const tokens = { input: 10, output: 4, reasoning: 2, cache: { read: 5, write: 1 } };
  const message = { role: "assistant", modelID: "fine", cost: 0, tokens };
  const time = { created: 1794765739121, completed: 1794765744902 };
  add("msg_1", "ses_1", { role: "user" });
  add("msg_2", "ses_1", { ...message, time });
  add("msg_3", "ses_1", { ...message, cost: 0.25, time: { created: 1794765739121 } });
  add("msg_4", "ses_1", "no JSON");
  add("msg_5", "ses_1", { ...message, tokens: { input: 0, output: 0 }, time });
  add("msg_6", "ses_2", { ...message, time });
  add("msg_7", "ses_3", { ...message, time });
  add("msg_8", "ses_1", { ...message, time: { created: 1794765739121 } });
  const of = { conversation: "ses_1", cwd: "/", env: { HOME: home } };
  const { usage } = opencode;
  expect(usage?.places(of)).toEqual(["ses_1", "ses_2"]);
  const first = usage?.read("ses_1", undefined, of);
  const call = { model: "fine", input: 10, output: 6, cacheRead: 5, cacheWrite: 1, context: null };
  expect(first?.calls).toEqual([
    { id: "msg_2", at: "2026-11-15T18:02:24.902Z", cost: null, ...call },
    { id: "msg_3", at: "2026-11-15T18:02:19.121Z", cost: 0.25, ...call },
  ]);
  expect(usage?.read("ses_1", first?.state, of)).toEqual({ calls: [], state: "msg_5", more: false });
  db.prepare("UPDATE message SET data = ? WHERE id = 'msg_8'").run(JSON.stringify({ ...message, time }));
  expect(usage?.read("ses_1", first?.state, of)).toMatchObject({ calls: [{ id: "msg_8" }], state: "msg_8" });
  expect(used(opencode, {}, "ses_2").map(({ id }) => id)).toEqual(["msg_6"]);
});

test("opencode: without a database, or with an unknown schema, there is no usage", () => {
  const of = { conversation: "ses_1", cwd: "/", env: { XDG_DATA_HOME: join(home, ".local/share") } };
  expect(opencode.usage?.places(of)).toEqual([]);
  opencodeDatabase().close();
  writeFileSync(join(home, ".local/share/opencode/opencode.db"), "no database at all");
  expect(opencode.usage?.places(of)).toEqual([]);
  expect(opencode.usage?.read("ses_1", "msg_1", of)).toEqual({ calls: [], state: "msg_1", more: false });
});
