import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempDisposableSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { ChatFiles } from "./chat-files.ts";
import { claude } from "./profiles/claude.ts";
import { codex } from "./profiles/codex.ts";
import { gemini } from "./profiles/gemini.ts";
import { opencode } from "./profiles/opencode.ts";
import { qwen } from "./profiles/qwen.ts";
import { lastReplyIn, type Transcript, turnsIn } from "./transcript.ts";

const conversation = "a99ba8dd-a9fc-47f5-981c-003630ba2799";
const since = "2026-01-01T00:00:00.000Z";

test("Gemini's own record yields each turn and its outcome (truth 8)", () => {
  const home = mkdtempSync(join(tmpdir(), "hf-chat-"));
  try {
    const chats = join(home, ".gemini/tmp/project/chats");
    mkdirSync(chats, { recursive: true });
    let count = 0;
    const write = (...entries: object[]) => {
      const lines = entries.map((entry) =>
        JSON.stringify({ id: `n${++count}`, timestamp: `2026-01-01T00:00:0${count % 10}.000Z`, ...entry }),
      );
      appendFileSync(join(chats, "session-2026-01-01T00-00-a99ba8dd.jsonl"), lines.map((line) => `${line}\n`).join(""));
    };
    const says = (text: string) => ({ type: "user", content: [{ text }] });
    write(says("<session_context>\nThis is the Gemini CLI."));
    const of = { conversation, cwd: home, env: { HOME: home } };
    using files = ChatFiles.open(gemini.transcript as Transcript, of, () => {});
    const read = () => files?.read(of, since).written.map(({ at: _, known: __, ...what }) => what);
    const owes = () => files?.read(of, since).known !== null;
    expect(read()).toEqual([]);
    expect(owes()).toBe(false);
    write({ ...says("one"), id: "a" }, { type: "gemini", content: "so far" });
    expect(read()).toEqual([
      { turn: "a", prompt: "one" },
      { turn: "a", reply: "so far" },
    ]);
    write({ type: "gemini", content: "so far", toolCalls: [{ name: "run_shell_command" }] }, { type: "gemini", content: "done" });
    expect(read()).toEqual([
      { turn: "a", reply: null },
      { turn: "a", reply: "done" },
    ]);
    write({ ...says("two"), id: "b" }, { type: "info", content: "Request cancelled." });
    expect(read()).toEqual([
      { turn: "a", over: true },
      { turn: "b", prompt: "two" },
      { turn: "b", interrupted: true },
    ]);
    // Gemini takes the turn back and writes its context again, which needs no answer.
    write(says("<session_context>\nThis is the Gemini CLI."));
    expect(read()).toEqual([]);
    expect(owes()).toBe(false);
    write({ ...says("three"), id: "c" }, { type: "error", content: "[API Error: 400]" });
    expect(read()).toEqual([
      { turn: "b", over: true },
      { turn: "c", prompt: "three" },
      { turn: "c", failure: "[API Error: 400]" },
    ]);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("Claude's own record yields each turn and its outcome (truth 11)", () => {
  const home = mkdtempSync(join(tmpdir(), "hf-chat-"));
  try {
    const project = join(home, ".claude/projects/code");
    mkdirSync(project, { recursive: true });
    const write = (...entries: object[]) => {
      const lines = entries.map((entry) => JSON.stringify({ uuid: "x", timestamp: since, isSidechain: false, ...entry }));
      appendFileSync(join(project, `${conversation}.jsonl`), lines.map((line) => `${line}\n`).join(""));
    };
    const says = (uuid: string, content: unknown) => ({ uuid, type: "user", message: { content } });
    const answers = (...content: object[]) => ({ type: "assistant", message: { content } });
    write({ type: "mode" });
    const of = { conversation, cwd: home, env: { HOME: home } };
    using files = ChatFiles.open(claude.transcript as Transcript, of, () => {});
    const read = () => files?.read(of, since).written.map(({ at: _, known: __, ...what }) => what);
    write(
      { ...says("m", "<local-command-caveat>"), isMeta: true },
      says("c", "<command-name>/clear</command-name>"),
      says("a", "one"),
      answers({ type: "thinking", thinking: "hm" }),
      answers({ type: "text", text: "I look" }),
      answers({ type: "tool_use", name: "Bash" }),
      says("t", [{ type: "tool_result", content: "42" }]),
      { ...answers({ type: "text", text: "a subagent" }), isSidechain: true },
      answers({ type: "text", text: "done" }),
    );
    expect(read()).toEqual([
      { turn: "a", prompt: "one" },
      { turn: "a", reply: "I look" },
      { turn: "a", reply: null },
      { turn: "a", reply: "done" },
    ]);
    write(
      says("b", [{ type: "text", text: "two" }]),
      { ...answers({ type: "text", text: "half" }), isAbortedMidStream: true },
      says("i", [{ type: "text", text: "[Request interrupted by user]" }]),
      says("d", "three"),
      { ...answers({ type: "text", text: "API Error: 400" }), isApiErrorMessage: true },
    );
    expect(read()).toEqual([
      { turn: "a", over: true },
      { turn: "b", prompt: "two" },
      { turn: "b", reply: null },
      { turn: "b", interrupted: true },
      { turn: "b", over: true },
      { turn: "d", prompt: "three" },
      { turn: "d", failure: "API Error: 400" },
    ]);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("Codex's own record yields each turn and its outcome, and no notes to the model (truth 12)", () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "hf-chat-"));
  const day = join(home.path, ".codex/sessions/2026/01/01");
  mkdirSync(day, { recursive: true });
  const file = join(day, `rollout-2026-01-01T00-00-00-${conversation}.jsonl`);
  let count = 0;
  const write = (...entries: { type: string; payload: object }[]) => {
    const lines = entries.map((entry) =>
      JSON.stringify({ timestamp: `2026-01-01T00:00:${String(count).padStart(2, "0")}.000Z`, ordinal: count++, ...entry }),
    );
    appendFileSync(file, lines.map((line) => `${line}\n`).join(""));
  };
  const event = (type: string, turn_id: string, more: object = {}) => ({ type: "event_msg", payload: { type, turn_id, ...more } });
  const item = (type: string, turn: string, id: string, text: string) =>
    event("item_completed", turn, { thread_id: conversation, item: { type, id, content: [{ type: "text", text, text_elements: [] }] } });
  const toModel = (role: string, text: string) => ({
    type: "response_item",
    payload: { type: "message", role, content: [{ type: "input_text", text }] },
  });
  write({ type: "session_meta", payload: { session_id: conversation, id: conversation, source: "cli", thread_source: "user" } });
  const of = { conversation, cwd: home.path, env: { HOME: home.path } };
  const transcript = codex.transcript as Transcript;
  using files = ChatFiles.open(transcript, of, () => {});
  const read = () => files?.read(of, since);
  const told = () => read()?.written.map(({ at: _, known: __, ...what }) => what);
  expect(told()).toEqual([]);
  expect(files?.tells).toBe(false);
  write(
    event("task_started", "t1", { started_at: 1794989774 }),
    toModel("user", "<environment_context>"),
    toModel("user", "one"),
    item("UserMessage", "t1", "i1", "one"),
  );
  const works = { turn: "working", at: "2026-01-01T00:00:01.000Z" };
  expect(read()).toEqual({
    written: [{ turn: "t1", at: "2026-01-01T00:00:04.000Z", known: works, prompt: "one" }],
    known: works,
  });
  expect(files?.tells).toBe(true);
  write(item("AgentMessage", "t1", "m1", "I look"), { type: "response_item", payload: { type: "function_call", name: "exec_command" } });
  expect(told()).toEqual([]);
  // A prompt given into the running turn.
  write(item("UserMessage", "t1", "i2", "and that"), item("AgentMessage", "t1", "m2", "both done"));
  write(event("task_complete", "t1", { last_agent_message: "both done", duration_ms: 524 }));
  expect(read()).toMatchObject({
    written: [
      { turn: "t1", prompt: "and that" },
      { turn: "t1", reply: "both done", known: { turn: "idle" } },
      { turn: "t1", over: true },
    ],
    known: { turn: "idle", at: "2026-01-01T00:00:09.000Z" },
  });
  expect(lastReplyIn(transcript, of)).toMatchObject({ text: "both done" });
  // Codex notifies its model of an ended subagent.
  write(toModel("user", '<subagent_notification>\n{"agent_path":"child","status":{"completed":"from the child"}}'));
  write(event("task_started", "t2"), item("UserMessage", "t2", "i3", "two"), item("AgentMessage", "t2", "m3", "half"));
  write(toModel("user", "<turn_aborted>\nThe user interrupted"), event("turn_aborted", "t2", { reason: "interrupted" }));
  expect(told()).toEqual([
    { turn: "t2", prompt: "two" },
    { turn: "t2", interrupted: true },
  ]);
  const error = { message: '{"error":{"message":"Bad request (scripted)","type":"error","code":"400"}}', codex_error_info: "other" };
  write(event("task_started", "t3"), item("UserMessage", "t3", "i4", "three"));
  write(event("task_complete", "t3", { last_agent_message: null, error }));
  expect(told()).toEqual([
    { turn: "t3", prompt: "three" },
    { turn: "t3", failure: "Bad request (scripted)" },
    { turn: "t3", over: true },
  ]);
  expect(turnsIn(transcript, of)).toBeNull();
  // The file may be compressed.
  expect(turnsIn(transcript, { ...of, conversation: "another" })).toBeNull();
});

test("Qwen's own record yields each turn and its outcome, and an answer only if the model completed it (truth 12)", () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "hf-chat-"));
  const chats = join(home.path, ".qwen/projects/-code/chats");
  mkdirSync(chats, { recursive: true });
  const write = (...entries: object[]) => {
    const lines = entries.map((entry) => JSON.stringify({ uuid: "x", sessionId: conversation, timestamp: since, ...entry }));
    appendFileSync(join(chats, `${conversation}.jsonl`), lines.map((line) => `${line}\n`).join(""));
  };
  const says = (uuid: string, text: string, provenance = "real_user") => ({
    uuid,
    type: "user",
    provenance,
    message: { role: "user", parts: [{ text }] },
  });
  const answers = (parts: object[], more: object = {}) => ({
    type: "assistant",
    provenance: "assistant_output",
    message: { role: "model", parts },
    ...more,
  });
  const notes = (name: string, more: object = {}) => ({
    type: "system",
    subtype: "ui_telemetry",
    systemPayload: { uiEvent: { "event.name": `qwen-code.${name}`, prompt_id: `${conversation}########0`, ...more } },
  });
  const usageMetadata = { promptTokenCount: 6621, totalTokenCount: 6623 };
  const others = { prompt_id: `${conversation}#helper-f012e19c#0`, subagent_name: "helper", response_text: "from the child" };
  write({ type: "system", subtype: "attribution_snapshot", systemPayload: {} });
  const of = { conversation, cwd: home.path, env: { HOME: home.path } };
  using files = ChatFiles.open(qwen.transcript as Transcript, of, () => {});
  const read = () => files?.read(of, since).written.map(({ at: _, known: __, ...what }) => what);
  const known = () => files?.read(of, since).known?.turn ?? null;
  write(says("s", "<system-reminder>", "system"), says("a", "one"), notes("api_response"));
  write(answers([{ text: "hm", thought: true }, { functionCall: { id: "call_1", name: "run_shell_command" } }], { usageMetadata }));
  write({ type: "tool_result", message: { role: "user", parts: [{ functionResponse: { id: "call_1" } }] } });
  write(notes("api_response", others), notes("api_error", { ...others, error_message: "of a child" }));
  write({ ...says("m", "and that"), subtype: "mid_turn_user_message" });
  expect(read()).toEqual([
    { turn: "a", prompt: "one" },
    { turn: "a", reply: null },
    { turn: "a", prompt: "and that" },
  ]);
  expect(known()).toBe("working");
  write(notes("api_error", { error_message: "503 once" }));
  expect(read()).toEqual([{ turn: "a", failure: "503 once" }]);
  expect(known()).toBeNull();
  write(notes("api_response"), answers([{ text: "done" }], { usageMetadata }));
  expect(read()).toEqual([
    { turn: "a", reply: "done" },
    { turn: "a", over: true },
  ]);
  expect(known()).toBe("idle");
  // Esc during an answer: Qwen writes the partial answer, but no api_response of its own.
  write(says("b", "two"), notes("api_response", others), answers([{ text: "half" }]));
  write(says("c", "three"), notes("api_error", { error_message: "400 Bad request (scripted)", status_code: 400 }));
  write(says("d", "four"));
  expect(read()).toEqual([
    { turn: "b", prompt: "two" },
    { turn: "b", reply: null },
    { turn: "b", interrupted: true },
    { turn: "c", prompt: "three" },
    { turn: "c", failure: "400 Bad request (scripted)" },
    { turn: "c", failure: "400 Bad request (scripted)" },
    { turn: "c", over: true },
    { turn: "d", prompt: "four" },
  ]);
  // Esc at a permission prompt.
  write(answers([{ functionCall: { id: "call_2" } }], { usageMetadata }));
  expect(known()).toBe("working");
  write(notes("tool_call", { status: "cancelled" }));
  expect(known()).toBeNull();
});

test("opencode's database yields each turn and its outcome, each message once it is complete, and no subagents (truth 12)", () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "hf-chat-"));
  const data = join(home.path, ".local/share/opencode");
  mkdirSync(data, { recursive: true });
  using db = new DatabaseSync(join(data, "opencode.db"));
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)");
  db.exec("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)");
  const at = Date.parse(since);
  const message = (id: string, value: object, session = "ses_1") =>
    db.prepare("INSERT OR REPLACE INTO message VALUES (?, ?, ?)").run(id, session, JSON.stringify(value));
  const part = (of: string, value: object, session = "ses_1") => {
    const { n } = db.prepare("SELECT count(*) AS n FROM part").get() as { n: number };
    db.prepare("INSERT INTO part VALUES (?, ?, ?, ?)").run(`prt_${n}`, of, session, JSON.stringify(value));
  };
  const user = { role: "user", time: { created: at }, agent: "build" };
  const answer = (parentID: string, more: object = {}) => ({ parentID, role: "assistant", time: { created: at }, ...more });
  const complete = (more: object) => ({ time: { created: at, completed: at + 5 }, ...more });
  const of = { conversation: "ses_1", cwd: home.path, env: { HOME: home.path } };
  const transcript = opencode.transcript as Transcript;
  using files = ChatFiles.open(transcript, of, () => {});
  const read = () => files?.read(of, since);
  const told = () => read()?.written.map(({ at: _, known: __, ...what }) => what);
  message("msg_1", user);
  expect(told()).toEqual([]);
  part("msg_1", { type: "text", text: "one" });
  part("msg_1", { type: "text", text: "<system-reminder>", synthetic: true });
  message("msg_2", answer("msg_1"));
  expect(read()).toMatchObject({ written: [{ turn: "msg_1", prompt: "one" }], known: { turn: "working", at: since } });
  // A subagent's session.
  message("msg_3", user, "ses_child");
  part("msg_3", { type: "text", text: "say from the child" }, "ses_child");
  message("msg_4", answer("msg_3", complete({ finish: "stop" })), "ses_child");
  part("msg_4", { type: "text", text: "from the child" }, "ses_child");
  part("msg_2", { type: "tool", tool: "task", state: { status: "completed" } });
  message("msg_2", answer("msg_1", complete({ finish: "tool-calls" })));
  expect(told()).toEqual([{ turn: "msg_1", reply: null }]);
  // A prompt that comes during an answer waits for its own answer.
  message("msg_5", answer("msg_1"));
  message("msg_6", user);
  part("msg_6", { type: "text", text: "two" });
  expect(told()).toEqual([{ turn: "msg_6", prompt: "two" }]);
  part("msg_5", { type: "text", text: "done" });
  message("msg_5", answer("msg_1", complete({ finish: "stop" })));
  expect(read()).toMatchObject({
    written: [
      { turn: "msg_1", reply: "done" },
      { turn: "msg_1", over: true },
    ],
    known: { turn: "working" },
  });
  // A prompt that comes while a tool runs is answered together with the one before.
  message("msg_7", answer("msg_6", complete({ finish: "tool-calls" })));
  message("msg_8", user);
  part("msg_8", { type: "text", text: "three" });
  message("msg_9", answer("msg_8", complete({ finish: "stop" })));
  part("msg_9", { type: "text", text: "both" });
  expect(told()).toEqual([
    { turn: "msg_6", reply: null },
    { turn: "msg_8", prompt: "three" },
    { turn: "msg_6", reply: "both" },
    { turn: "msg_6", over: true },
    { turn: "msg_8", reply: "both" },
    { turn: "msg_8", over: true },
  ]);
  expect(read()?.known).toMatchObject({ turn: "idle" });
  for (const [id, text] of [
    ["msg_a", "four"],
    ["msg_c", "five"],
  ] as const) {
    message(id, user);
    part(id, { type: "text", text });
  }
  message("msg_b", answer("msg_a", complete({ error: { name: "MessageAbortedError", data: { message: "Aborted" } } })));
  message("msg_d", answer("msg_c", complete({ error: { name: "APIError", data: { message: "Bad request (scripted)" } } })));
  expect(told()).toEqual([
    { turn: "msg_a", prompt: "four" },
    { turn: "msg_a", interrupted: true },
    { turn: "msg_c", prompt: "five" },
    { turn: "msg_c", failure: "Bad request (scripted)" },
    { turn: "msg_c", over: true },
  ]);
  expect(lastReplyIn(transcript, of)).toMatchObject({ text: "both" });
  expect(turnsIn(transcript, of)).toBeNull();
  // Esc at a permission prompt leaves no error of the answer.
  message("msg_e", user);
  part("msg_e", { type: "text", text: "six" });
  part("msg_f", {
    type: "tool",
    state: { status: "error", error: "The user rejected permission to use this specific tool call." },
  });
  message("msg_f", answer("msg_e", complete({ finish: "tool-calls" })));
  expect(read()).toMatchObject({ written: [{ prompt: "six" }, { turn: "msg_e", interrupted: true }], known: { turn: "idle" } });
});

test("opencode's database is read within limits: long entries, damaged ones and pipes neither block nor fill the daemon (truth 12)", () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "hf-chat-"));
  const data = join(home.path, ".local/share/opencode");
  mkdirSync(data, { recursive: true });
  const of = { conversation: "ses_1", cwd: home.path, env: { HOME: home.path } };
  const { store } = opencode.transcript as Transcript;
  const texts = () => store?.read(of, "").entries.map((entry) => (entry as unknown as { text: string }).text.slice(0, 5));
  execFileSync("mkfifo", [join(data, "opencode.db")]);
  expect(texts()).toEqual([]);
  expect(opencode.transcript?.path(of)).toBeUndefined();
  rmSync(join(data, "opencode.db"));
  using db = new DatabaseSync(join(data, "opencode.db"));
  db.exec("CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)");
  db.exec("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)");
  const add = (id: string, text: string, more: object = {}) => {
    const message = { role: "user", time: { created: Date.parse(since) }, ...more };
    db.prepare("INSERT INTO message VALUES (?, 'ses_1', ?)").run(`msg_${id}`, JSON.stringify(message));
    db.prepare("INSERT INTO part VALUES (?, ?, 'ses_1', ?)").run(`prt_${id}`, `msg_${id}`, JSON.stringify({ type: "text", text }));
  };
  const long = "x".repeat(5 << 20);
  for (const id of ["1", "2"]) add(id, `${id} is ${long}`);
  add("3", "3 has a file", { summary: { diffs: [{ before: long.repeat(2) }] } });
  db.exec("INSERT INTO message VALUES ('msg_4', 'ses_1', '{half')");
  add("5", "5 is last");
  expect(texts()).toEqual(["2 is ", "5 is "]);
});

test("reading opencode's database is not taken for a change of it (truth 12)", async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "hf-chat-"));
  const data = join(home.path, ".local/share/opencode");
  mkdirSync(data, { recursive: true });
  using db = new DatabaseSync(join(data, "opencode.db"));
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)");
  db.exec("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)");
  const of = { conversation: "ses_1", cwd: home.path, env: { HOME: home.path } };
  let changes = 0;
  using files = ChatFiles.open(opencode.transcript as Transcript, of, () => {
    changes++;
    files?.read(of, since);
  });
  files?.read(of, since);
  for (let i = 1; i <= 10; i++) {
    db.prepare("INSERT INTO message VALUES (?, 'ses_1', '{}')").run(`msg_${i}`);
    await vi.waitFor(() => expect(changes).toBeGreaterThanOrEqual(i), { timeout: 10_000, interval: 100 });
  }
  expect(changes).toBe(10);
});
