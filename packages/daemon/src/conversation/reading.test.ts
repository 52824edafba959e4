import type { Entry, EntryDraft } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type Fact, Reading } from "./reading.ts";

const AT = "2026-11-15T12:00:00.000Z";
let n = 0;

function entry(draft: EntryDraft, turn: string | null = "m1"): Entry {
  return { v: 1, n: ++n, at: AT, turn, ...draft } as Entry;
}

/** All facts from the entries; each entry ends ten bytes after the previous one. */
function read(reading: Reading, ...entries: Entry[]): Fact[] {
  return entries.flatMap((each, index) => reading.read(each, (index + 1) * 10));
}

const user = (message: string, turn = message, text = message) =>
  entry({ type: "user", message, from: "user:x" as never, text, addition: null, steer: message !== turn }, turn);
const text = (words: string) => entry({ type: "text", text: words });
const over = (reason: "completed" | "interrupted" | "failed" = "completed") => entry({ type: "turn_ended", reason });

test("a turn begins with its prompt and ends with its answer: the text after the last tool", () => {
  const reading = new Reading(2);
  expect(read(reading, user("m1"))).toEqual([
    { type: "turn.started", data: { run: 2, turn: "m1", offset: 10, from: "user:x", text: "m1" } },
    { type: "said", message: "m1" },
    { type: "claim", claim: { turn: "working", attention: null }, what: "a turn began", at: AT },
  ]);
  expect(reading.turn).toBe("m1");
  read(
    reading,
    text("first I look. "),
    entry({ type: "tool_started", call: "t", title: "Read", kind: "read", input: null, files: ["/a"] }),
  );
  expect(read(reading, text("it is "), text("done"), over())).toEqual([
    { type: "turn.ended", data: { run: 2, turn: "m1", offset: 30, reason: "completed", text: "it is done", error: null } },
    { type: "answered", messages: ["m1"], at: AT, reply: "it is done", reason: "completed", error: null },
    { type: "claim", claim: { turn: "idle", attention: null }, what: "a turn ended: completed", at: AT },
  ]);
  expect(reading.turn).toBeNull();
});

test("messages given into a turn are answered with it", () => {
  const reading = new Reading(1);
  read(reading, user("m1"));
  expect(read(reading, user("m2", "m1"))).toEqual([{ type: "said", message: "m2" }]);
  expect(read(reading, text("ok"), over())).toContainEqual(expect.objectContaining({ type: "answered", messages: ["m1", "m2"] }));
});

test("an error is reported with the end of its own turn, not with the next", () => {
  const reading = new Reading(1);
  const error = entry({ type: "error", code: "x", message: "no quota", hint: null, retry: true });
  expect(read(reading, user("m1"), error, over("failed"))).toContainEqual(
    expect.objectContaining({ type: "answered", reason: "failed", error: "no quota", reply: "" }),
  );
  expect(read(reading, user("m2"), over())).toContainEqual(expect.objectContaining({ type: "answered", error: null }));
  expect(read(reading, error)).toEqual([]);
});

test("tool output is recorded with its size, and cut to what the journal keeps", () => {
  const reading = new Reading(1);
  read(reading, user("m1"));
  const output = (words: string | null) =>
    entry({ type: "tool_output", call: "t", title: null, text: words, changes: [{ path: "/a", old: null, new: "secret" }] });
  const started = entry({ type: "tool_started", call: "t", title: "Run", kind: "execute", input: { secret: 1 }, files: [] });
  expect(read(reading, started)).toEqual([
    { type: "tool.started", data: { run: 1, turn: "m1", offset: 10, call: "t", title: "Run", kind: "execute", files: [] } },
  ]);
  expect(read(reading, output("€"))).toEqual([
    { type: "tool.output", data: { run: 1, turn: "m1", offset: 10, call: "t", text: "€", bytes: 3, changes: ["/a"] } },
  ]);
  // The cut is inside a character of two units.
  const [fact] = read(reading, output(`${"x".repeat(1999)}😀`));
  expect(fact).toMatchObject({ data: { bytes: 3 + 1999 + 4, text: `${"x".repeat(1999)}\ufffd` } });
  expect(read(reading, output(null))).toMatchObject([{ data: { text: "", bytes: 2006 } }]);
  expect(read(reading, entry({ type: "tool_completed", call: "t", ok: false }))).toMatchObject([
    { type: "tool.completed", data: { ok: false } },
  ]);
});

test("the agent works again when its last permission request is answered", () => {
  const reading = new Reading(1);
  read(reading, user("m1"));
  const asked = (ask: string) =>
    entry({ type: "approval_asked", ask, call: null, title: "Run", kind: "execute", input: null, options: [] });
  const answered = (ask: string) => entry({ type: "approval_answered", ask, option: "y", allowed: true, by: null });
  expect(read(reading, asked("a1"), asked("a2")).map(({ type }) => type)).toEqual(["asked", "asked"]);
  expect(read(reading, answered("a1")).map(({ type }) => type)).toEqual(["settled"]);
  expect(read(reading, answered("a2"))).toMatchObject([
    { type: "settled" },
    { type: "claim", claim: { turn: "working", attention: null } },
  ]);
  read(reading, over());
  expect(read(reading, answered("a3")).map(({ type }) => type)).toEqual(["settled"]);
});

test("usage is identified by its place in the transcript", () => {
  const usage = entry({ type: "usage", model: null, input: 1, output: 2, cacheRead: null, cacheWrite: null, cost: null, context: null });
  expect(read(new Reading(4), usage)).toEqual([{ type: "usage", entry: usage, key: `transcript:4.${usage.n}` }]);
});

test("an opened conversation is idle unless a turn waits for it; other notes have no effect on the journal", () => {
  const opened = entry({ type: "note", about: "opened", text: "it begins", conversation: "c1" }, null);
  expect(read(new Reading(1), opened)).toEqual([
    { type: "conversation", conversation: "c1" },
    { type: "claim", claim: { turn: "idle", attention: null }, what: "it begins", at: AT },
  ]);
  const reading = new Reading(1);
  read(reading, user("m1"));
  expect(read(reading, opened)).toEqual([{ type: "conversation", conversation: "c1" }]);
  const plan = entry({ type: "plan", steps: [] });
  expect(
    read(reading, entry({ type: "note", about: "mode", text: "the mode is auto now" }), plan, entry({ type: "thought", text: "hm" })),
  ).toEqual([]);
});

test("a run that ended in the middle of a turn has its requests cancelled and its turn interrupted", () => {
  const reading = new Reading(1);
  expect(reading.leftOver(AT)).toEqual([]);
  read(
    reading,
    user("m1"),
    entry({ type: "approval_asked", ask: "a1", call: null, title: "Run", kind: "execute", input: null, options: [] }),
  );
  expect(reading.leftOver(AT)).toMatchObject([
    { v: 1, at: AT, turn: "m1", type: "approval_answered", ask: "a1", option: null, allowed: false },
    { type: "error", code: "agent_ended", retry: true },
    { type: "turn_ended", reason: "interrupted" },
  ]);
  read(reading, over());
  expect(reading.leftOver(AT)).toEqual([]);
});

test("a turn end without its beginning, as in a recovered transcript, still counts", () => {
  expect(read(new Reading(1), over())).toContainEqual(expect.objectContaining({ type: "answered", messages: [], reply: "" }));
});

test("the journal keeps the beginning of long texts", () => {
  const reading = new Reading(1);
  const [started] = read(reading, user("m1", "m1", "w".repeat(600)));
  expect(started).toMatchObject({ data: { text: "w".repeat(500) } });
  const [ended, answered] = read(reading, text("a".repeat(3000)), over());
  expect(ended).toMatchObject({ data: { text: "a".repeat(2000) } });
  expect(answered).toMatchObject({ reply: "a".repeat(3000) });
});
