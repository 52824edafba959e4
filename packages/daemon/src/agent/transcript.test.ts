import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claude } from "./profiles/claude.ts";
import { gemini } from "./profiles/gemini.ts";
import { qwen } from "./profiles/qwen.ts";
import { joinedPrompts, lastReplyIn, type Transcript, turnsIn } from "./transcript.ts";
import { usageInLines } from "./usage-source.ts";

const CONVERSATION = "7d3a1b52-0000-4000-8000-000000000000";

function said(text: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    type: "assistant",
    timestamp: "2026-11-15T05:00:00.000Z",
    message: { content: [{ type: "text", text }] },
    ...more,
  });
}

test("claude's last reply is read from the end of its transcript, past tools, subagents and a cut line", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const folder = join(directory.path, ".claude/projects/-home-me-app");
  mkdirSync(folder, { recursive: true });
  const lines = [
    said("first"),
    said("the answer"),
    said("of a subagent", { isSidechain: true }),
    JSON.stringify({ type: "assistant", message: { content: [{ type: "tool_use", name: "Bash" }] } }),
    JSON.stringify({ type: "user", message: { content: "thanks" } }),
    '{"type":"assis',
  ];
  writeFileSync(join(folder, `${CONVERSATION}.jsonl`), lines.join("\n"));
  const of = { conversation: CONVERSATION, cwd: "/home/me/app", env: { HOME: directory.path } };
  const transcript = claude.transcript as Transcript;
  expect(lastReplyIn(transcript, of)).toEqual({ text: "the answer", at: "2026-11-15T05:00:00.000Z" });
  expect(lastReplyIn(transcript, { ...of, conversation: "another" })).toBeUndefined();
  expect(lastReplyIn(transcript, { ...of, env: { HOME: "/nowhere" } })).toBeUndefined();
});

test("a pipe in place of an agent's transcript does not block reading (mend 11)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const folder = join(directory.path, ".claude/projects/-home-me-app");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${CONVERSATION}.jsonl`);
  execFileSync("mkfifo", [file]);
  const of = { conversation: CONVERSATION, cwd: "/home/me/app", env: { HOME: directory.path } };
  expect(lastReplyIn(claude.transcript as Transcript, of)).toBeUndefined();
  const source = usageInLines({ files: () => [file], call: () => undefined });
  expect(source.read(file, undefined, of)).toMatchObject({ calls: [], more: false });
});

test("gemini's last reply is read from the newest file of the conversation, past tool calls", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const folder = join(directory.path, ".gemini/tmp/app/chats");
  mkdirSync(folder, { recursive: true });
  const line = (type: string, content: unknown) => JSON.stringify({ type, content, timestamp: "2026-11-15T05:00:00.000Z" });
  writeFileSync(join(folder, "session-2026-11-14T05-00-7d3a1b52.jsonl"), line("gemini", "of yesterday"));
  const lines = [line("gemini", "the answer"), line("user", [{ text: "thanks" }]), line("gemini", ""), '{"$set":{}}'];
  writeFileSync(join(folder, "session-2026-11-15T05-00-7d3a1b52.jsonl"), lines.join("\n"));
  const of = { conversation: CONVERSATION, cwd: "/home/me/app", env: { HOME: directory.path } };
  expect(lastReplyIn(gemini.transcript as Transcript, of)).toEqual({ text: "the answer", at: "2026-11-15T05:00:00.000Z" });
  expect(lastReplyIn(gemini.transcript as Transcript, { ...of, env: {} })).toBeUndefined();
});

test("gemini's turns are counted from its own files, each once, without tool results (mend 11)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const folder = join(directory.path, ".gemini/tmp/app/chats");
  mkdirSync(folder, { recursive: true });
  const line = (id: string, content: unknown, type = "user") => JSON.stringify({ id, type, content });
  const first = [line("u1", [{ text: "deploy" }]), line("g1", "done", "gemini"), line("u2", [{ functionResponse: {} }])];
  writeFileSync(join(folder, "session-2026-11-14T05-00-7d3a1b52.jsonl"), first.join("\n"));
  const next = [line("u1", [{ text: "deploy" }]), line("u3", [{ text: "again" }]), '{"$set":{}}'];
  writeFileSync(join(folder, "session-2026-11-15T05-00-7d3a1b52.jsonl"), next.join("\n"));
  const of = { conversation: CONVERSATION, cwd: "/home/me/app", env: { HOME: directory.path } };
  expect(turnsIn(gemini.transcript, of)).toBe(2);
  expect(turnsIn(gemini.transcript, { ...of, env: {} })).toBe(0);
  expect(turnsIn(undefined, of)).toBeNull();
});

test("a prompt that qwen takes into a running turn is answered by the next answer, not by that of a later turn (truth 8)", () => {
  using home = mkdtempDisposableSync(join(tmpdir(), "holdfast-qwen-"));
  const conversation = "5fe74e41-7c44-4d29-9a0a-0e8b60bd8c27";
  mkdirSync(join(home.path, ".qwen/projects/project/chats"), { recursive: true });
  const file = join(home.path, ".qwen/projects/project/chats", `${conversation}.jsonl`);
  const says = (text: string, more: object = {}) => ({ type: "user", uuid: text, message: { role: "user", parts: [{ text }] }, ...more });
  const answers = (...parts: object[]) => ({ type: "assistant", message: { role: "model", parts } });
  const before = [says("long"), answers({ text: "so far" }), says("steered", { subtype: "mid_turn_user_message" })];
  const read = (...entries: object[]) => {
    const lines = entries.map((entry, i) => JSON.stringify({ ...entry, timestamp: `2026-11-18T20:00:0${i}.000Z` }));
    writeFileSync(file, `${lines.join("\n")}\n`);
    const of = { conversation, cwd: home.path, env: { HOME: home.path } };
    return joinedPrompts(qwen.transcript as Transcript, of, "2026-11-18T20:00:00.000Z");
  };
  expect(read(...before)).toEqual([{ text: "steered", reply: null }]);
  const acts = answers({ text: "let me look" }, { functionCall: { id: "call_1", name: "glob" } });
  expect(read(...before, acts)).toEqual([{ text: "steered", reply: null }]);
  const notice = says("<task-notification>", { provenance: "task_notification" });
  expect(read(...before, acts, answers({ text: "steered" }), notice, answers({ text: "the child is done" }))).toEqual([
    { text: "steered", reply: "steered" },
  ]);
  const interrupted = [...before, says("something else"), answers({ text: "another answer" })];
  expect(read(...interrupted)).toEqual([{ text: "steered", reply: null }]);
});
