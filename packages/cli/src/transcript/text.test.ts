import type { Entry, EntryDraft } from "@holdfast/contract/conversation/transcript";
import { describe, expect, test } from "vitest";
import { TranscriptText } from "./text.ts";

function entry(draft: EntryDraft): Entry {
  return { v: 1, n: 1, at: "2026-11-15T12:34:56.000Z", turn: "m1", ...draft } as Entry;
}

function print(drafts: readonly EntryDraft[], shown = { color: false, all: false }): string {
  const text = new TranscriptText({ name: "api", ...shown });
  return drafts.map((draft) => text.of(entry(draft))).join("") + text.end();
}

const user = (text: string, steer = false): EntryDraft => ({
  type: "user",
  message: "m1",
  from: "user:ann" as never,
  text,
  addition: null,
  steer,
});
const started: EntryDraft = { type: "tool_started", call: "t", title: "Read a", kind: "read", input: null, files: [] };
const output: EntryDraft = {
  type: "tool_output",
  call: "t",
  title: "Read all of a",
  text: "one\n\ttwo\n",
  changes: [{ path: "/a", old: null, new: "" }],
};
const usage: EntryDraft = {
  type: "usage",
  model: null,
  input: 5,
  output: null,
  cacheRead: null,
  cacheWrite: null,
  cost: null,
  context: { used: 9, size: 10 },
};

test("a turn is printed with the speaker, the tools and the joined answer", () => {
  const turn: EntryDraft[] = [
    user("first\nsecond"),
    { type: "thought", text: "hm" },
    { type: "text", text: "I look. " },
    { type: "text", text: "Now." },
  ];
  expect(print([...turn, started, output, { type: "tool_completed", call: "t", ok: true }, { type: "text", text: "Done." }, usage])).toBe(
    "\nuser:ann · 2026-11-15 12:34:56\n> first\n> second\n\nI look. Now.\n◦ Read a\n✓ Read all of a\nDone.\n",
  );
});

test("a principal with a known name is shown by it", () => {
  const text = new TranscriptText({ name: "api", color: false, all: false, nameOf: (who) => (who === "user:ann" ? "boss" : undefined) });
  expect(text.of(entry(user("go on")))).toBe("\nboss (user:ann) · 2026-11-15 12:34:56\n> go on\n\n");
  const answered: EntryDraft = { type: "approval_answered", ask: "1", option: "a", allowed: true, by: "user:ann" as never };
  expect(text.of(entry(answered))).toBe("? allowed by boss (user:ann)\n");
});

test("with all, thoughts, tool output and tokens are printed on their own lines", () => {
  const drafts: EntryDraft[] = [{ type: "thought", text: "hm" }, { type: "text", text: "So." }, started, output, usage];
  expect(print(drafts, { color: false, all: true })).toBe(
    "hm\nSo.\n◦ Read a\n    one\n        two\n    changed /a\n— 5 tokens in, ? out, context 9 of 10\n",
  );
});

describe("other entries", () => {
  test.each<[EntryDraft, string]>([
    [user("more", true), "\nuser:ann (into the turn) · 2026-11-15 12:34:56\n> more\n\n"],
    [{ type: "tool_completed", call: "unknown", ok: false }, "✗ a tool\n"],
    [
      {
        type: "plan",
        steps: [
          { text: "one", status: "completed", priority: "low" },
          { text: "two", status: "pending", priority: "low" },
        ],
      },
      "  ☑ one\n  ☐ two\n",
    ],
    [
      { type: "approval_asked", ask: "a", call: null, title: "Run ls", kind: "execute", input: null, options: [] },
      "? asks for permission: execute · in the agent's words: “Run ls”\n",
    ],
    [{ type: "approval_answered", ask: "a", option: "y", allowed: true, by: "user:bob" as never }, "? allowed by user:bob\n"],
    [{ type: "approval_answered", ask: "a", option: "n", allowed: false, by: null }, "? denied\n"],
    [{ type: "approval_answered", ask: "a", option: null, allowed: false, by: null }, "? not wanted any more\n"],
    [{ type: "error", code: "x", message: "no quota", hint: "wait", retry: true }, "! no quota\n  wait\n"],
    [{ type: "error", code: "x", message: "no quota", hint: null, retry: true }, "! no quota\n"],
    [{ type: "turn_ended", reason: "completed" }, ""],
    [{ type: "turn_ended", reason: "max_tokens" }, "— the turn ended: max tokens\n"],
    [{ type: "note", about: "mode", text: "the mode is auto now" }, "— the mode is auto now\n"],
  ])("%j", (draft, text) => {
    expect(print([draft])).toBe(text);
  });
});

test("an agent's text is inert, and only Holdfast's own colours are printed", () => {
  const evil = "\x1b]0;owned\x07\x1b[2Jplain";
  const drafts: EntryDraft[] = [
    { type: "text", text: evil },
    { ...started, title: evil } as EntryDraft,
    { type: "note", about: "x", text: evil },
  ];
  for (const control of ["\x07", "\x1b"]) expect(print(drafts)).not.toContain(control);
  expect(print([{ type: "note", about: "x", text: "n" }], { color: true, all: false })).toBe("\x1b[2m— n\x1b[22m\n");
  expect(print([{ type: "thought", text: "t" }], { color: true, all: true })).toBe("\x1b[2mt\x1b[22m\n");
  expect(print([user("u")], { color: true, all: true })).toContain("\x1b[1muser:ann");
});
