import { expect, test } from "vitest";
import { headed } from "../agent/heading.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import type { MessageRecord } from "../projection/messages.ts";
import { receiptsOf } from "./receipts.ts";

const submitted = {
  id: "m",
  session: "aaaaaaaaaa",
  text: "fix the bug\nand test it",
  state: "injected",
  open: true,
  working: false,
  run: 2,
  via: "typed",
  turnId: null,
  injectedAt: "2026-01-01T00:00:00.000Z",
  known: true,
} as MessageRecord;

const signal = { event: "UserPromptSubmit", at: "", claim: {}, turn: null, prompt: null, reply: null, failure: null } as unknown as Signal;
const told = { ...signal, prompt: "fix the bug\r\nand test it " };
const answered = { ...signal, event: "Stop", reply: "done" };

function receipts(of: Signal, message: Partial<MessageRecord>, { turnEnded = false, atRest = true } = {}) {
  return receiptsOfAll(of, [message], { answer: turnEnded ? "done" : null, atRest });
}

function receiptsOfAll(
  of: Signal,
  all: Partial<MessageRecord>[],
  {
    answer = null as string | null,
    failed = null as string | null,
    atRest = true,
    joins = false,
    into = null as string | null,
    isAnnounced = false,
  } = {},
) {
  const messages = all.map((message) => ({ ...submitted, ...message }) as MessageRecord);
  const told = { run: 2, messages, answers: of.event === "Stop", said: ({ text }: MessageRecord) => text };
  const taken = into === null ? null : { turn: into, evidence: "its hook told it" };
  const since = { answerSince: () => answer, failureSince: () => failed, into: () => taken };
  const drafts = receiptsOf(of, { ...told, ...since, atRest, joins, isAnnounced });
  return drafts.map(({ type, data }) => ({ type, ...data }));
}

const peer = { id: "aaaaaaaaaa", nonce: "0f1e2d3c", name: "parent", group: null, role: null };

test("a prompt reported by the agent matches only the message that was handed over (BG-06 agents)", () => {
  expect(receipts(told, {})).toMatchObject([{ type: "message.turn_started", id: "m", run: 2 }]);
  expect(receipts({ ...told, prompt: "fix the bug" }, {})).toEqual([]);
  expect(receipts(told, { run: 1 })).toEqual([]);
  expect(receipts(told, { state: "queued" })).toEqual([]);
  expect(receipts(told, { state: "turn_started" })).toEqual([]);
});

test("a half-delivered message, or one that failed in doubt, counts as injected if the agent reports it", () => {
  const types = [{ type: "message.injected" }, { type: "message.turn_started" }];
  expect(receipts(told, { state: "injecting", injectedAt: null })).toMatchObject(types);
  expect(receipts(told, { state: "failed", known: false })).toMatchObject([{ type: "message.turn_started" }]);
  expect(receipts(told, { state: "failed", known: true })).toEqual([]);
});

test("a settled message gets its turn if the agent reports it soon after, not if the same text is sent later (truth 6)", () => {
  const settled = { open: false } as const;
  expect(receipts({ ...told, at: "2026-01-01T00:00:05.000Z" }, settled)).toMatchObject([{ type: "message.turn_started" }]);
  expect(receipts({ ...told, at: "2026-01-01T00:10:00.000Z" }, settled)).toEqual([]);
});

test("an answer ends its turn; an interrupt does not answer, and a failure gives the reason", () => {
  const started = { state: "turn_started" } as const;
  expect(receipts(answered, started)).toMatchObject([{ type: "message.replied", reply: "done" }]);
  expect(receipts({ ...answered, reply: null }, started)).toMatchObject([{ type: "message.replied", reply: null }]);
  expect(receipts({ ...signal, event: "Interrupt" }, started)).toEqual([]);
  expect(receipts({ ...signal, event: "StopFailure", failure: "rate_limit" }, started)).toMatchObject([
    { type: "message.failed", why: "its turn failed: rate_limit", known: true },
  ]);
  expect(receipts(answered, {})).toEqual([]);
});

test("a prompt reported during another turn has no turn of its own yet, and the end of that turn is not its answer", () => {
  expect(receipts(told, { working: true })).toEqual([]);
  expect(receipts(told, { working: true, state: "injecting", injectedAt: null })).toMatchObject([{ type: "message.injected" }]);
  expect(receipts(told, { working: true }, { turnEnded: true })).toMatchObject([{ type: "message.turn_started" }]);
  expect(receipts(answered, { working: true, state: "turn_started" })).toEqual([]);
});

test("a message from a session matches by the name that the session had at the time", () => {
  const heard = { ...told, prompt: headed({ ...peer, name: "parent" }, "fix the bug") };
  expect(receipts(heard, { text: headed({ ...peer, name: "renamed" }, "fix the bug") })).toMatchObject([{ type: "message.turn_started" }]);
  // The same text from the user is a different prompt.
  expect(receipts({ ...told, prompt: "fix the bug" }, { text: headed({ ...peer, name: "renamed" }, "fix the bug") })).toEqual([]);
});

test("a prompt matches in any form of its letters", () => {
  expect(receipts({ ...told, prompt: "\u00e9 evil" }, { text: "e\u0301 \u202eevil\u202c\x1b" })).toMatchObject([
    { type: "message.turn_started" },
  ]);
});

const started = { id: "first", text: "an earlier one", state: "turn_started", turnId: "t1" } as const;
const interrupted = { type: "message.failed", id: "first", why: "its turn was interrupted before it answered", known: true };

test("a new prompt closes the earlier one as interrupted, and gets its own answer (truth 8)", () => {
  const began = { ...told, turn: "t2" };
  expect(receiptsOfAll(began, [started, {}])).toMatchObject([interrupted, { type: "message.turn_started", id: "m", turn: "t2" }]);
  // Without turn ids, by what is known: it was handed over when nothing ran.
  expect(receiptsOfAll(told, [{ ...started, turnId: null }, {}])).toMatchObject([interrupted, { type: "message.turn_started" }]);
  // The same for a prompt typed by a person.
  expect(receiptsOfAll({ ...began, prompt: "typed by hand" }, [started])).toMatchObject([interrupted]);
  expect(receiptsOfAll({ ...told, prompt: "typed by hand" }, [{ ...started, turnId: null }])).toMatchObject([interrupted]);
});

test("a prompt in the middle of the same turn closes nothing (truth 8)", () => {
  const typed = { ...told, prompt: "typed by hand" };
  expect(receiptsOfAll({ ...typed, turn: "t1" }, [started], { atRest: false })).toEqual([]);
  expect(receiptsOfAll(typed, [{ ...started, turnId: null }], { atRest: false })).toEqual([]);
  expect(receiptsOfAll(told, [started, { working: true }], { atRest: false })).toEqual([]);
  // The screen showed the turn before the hook reported it.
  expect(receiptsOfAll({ ...told, prompt: "an earlier one" }, [{ ...started, turnId: null }])).toEqual([]);
});

test("an answer belongs to its own turn and to no other (truth 8)", () => {
  const second = { ...started, id: "second", turnId: "t2" };
  expect(receiptsOfAll({ ...answered, turn: "t2" }, [started, second])).toMatchObject([{ type: "message.replied", id: "second" }]);
  expect(receiptsOfAll({ ...signal, event: "StopFailure", failure: "why", turn: "t2" }, [started])).toEqual([]);
});

test("a message given into a running turn keeps the answer that was reported before another turn began (truth 8)", () => {
  const steered = { ...started, turnId: null, working: true };
  expect(receiptsOfAll(told, [steered, {}], { answer: "its own" })).toMatchObject([
    { type: "message.replied", id: "first", reply: "its own" },
    { type: "message.turn_started", id: "m" },
  ]);
});

test("a message taken into a turn that nobody prompted gets the answer of its own turn, not of that one (truth 8)", () => {
  const began = { ...told, turn: "t1" };
  expect(receiptsOfAll(began, [{}], { atRest: false, joins: true })).toEqual([
    { type: "message.injected", id: "m", run: 2, via: "typed", working: true },
  ]);
  const taken = { working: true };
  const ends = { ...answered, turn: "t1" };
  expect(receiptsOfAll(ends, [taken], { into: "t1", isAnnounced: true })).toEqual([]);
  // The turn that it begins has an id that no prompt announced.
  expect(receiptsOfAll({ ...ends, turn: "t2" }, [taken], { into: "t1" })).toMatchObject([
    { type: "message.turn_started", id: "m", turn: "t2", evidence: "its hook told it" },
    { type: "message.replied", id: "m", reply: "done" },
  ]);
  // Another turn that nobody prompted.
  expect(receiptsOfAll({ ...ends, turn: "t3" }, [taken], { into: "t1", isAnnounced: true })).toEqual([]);
});

const written = { ...signal, event: "outcome", at: "2026-01-01T00:00:01.000Z", written: true } as const;

test("an agent's own files show whether a turn was interrupted, and only that turn (truth 8)", () => {
  const second = { ...started, id: "second", turnId: "t2" };
  expect(receiptsOfAll({ ...written, turn: "t1", interrupted: true }, [started, second])).toMatchObject([interrupted]);
  expect(receiptsOfAll({ ...written, turn: "t1", reply: "so far" }, [started, second])).toEqual([]);
  expect(receiptsOfAll({ ...written, turn: "t1", over: true }, [started, second])).toMatchObject([interrupted]);
  expect(receiptsOfAll({ ...written, turn: "t1", over: true }, [started], { answer: "done" })).toMatchObject([
    { type: "message.replied", id: "first", reply: "done" },
  ]);
  expect(receiptsOfAll({ ...written, turn: "t1", over: true }, [started], { failed: "429" })).toMatchObject([
    { type: "message.failed", id: "first", why: "its turn failed: 429" },
  ]);
});

test("entries written before the message do not count for it, even when the next daemon reads them again (truth 8)", () => {
  const seen = { ...started, turnId: null };
  const before = { ...written, at: "2025-12-31T23:59:59.000Z", turn: "t0" };
  expect(receiptsOfAll({ ...before, interrupted: true }, [started, seen])).toEqual([]);
  expect(receiptsOfAll({ ...before, event: "prompt", prompt: "an older one" }, [started, seen])).toEqual([]);
  expect(receiptsOfAll({ ...written, turn: "t3", interrupted: true }, [seen])).toMatchObject([interrupted]);
});
