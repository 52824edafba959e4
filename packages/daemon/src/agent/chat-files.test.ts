import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatFiles } from "./chat-files.ts";
import { claude } from "./profiles/claude.ts";
import { gemini } from "./profiles/gemini.ts";
import type { Transcript } from "./transcript.ts";

const conversation = "a99ba8dd-a9fc-47f5-981c-003630ba2799";
const since = "2026-01-01T00:00:00.000Z";

test("of a conversation that Gemini writes down it tells each turn and how it ends (truth 8)", () => {
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
    const read = () => files?.read(of, since).written.map(({ at: _, ...what }) => what);
    expect(read()).toEqual([]);
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
    // It takes the turn back, and writes down what is left.
    write(says("<session_context>\nThis is the Gemini CLI."));
    expect(read()).toEqual([]);
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

test("of a conversation that Claude writes down it tells each turn and how it ends (truth 11)", () => {
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
    const read = () => files?.read(of, since).written.map(({ at: _, ...what }) => what);
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
