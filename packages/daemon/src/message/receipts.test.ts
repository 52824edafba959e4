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
  { answer = null as string | null, failed = null as string | null, atRest = true } = {},
) {
  const messages = all.map((message) => ({ ...submitted, ...message }) as MessageRecord);
  const told = { run: 2, messages, answers: of.event === "Stop", said: ({ text }: MessageRecord) => text };
  const drafts = receiptsOf(of, { ...told, answerSince: () => answer, failureSince: () => failed, atRest });
  return drafts.map(({ type, data }) => ({ type, ...data }));
}

const peer = { id: "aaaaaaaaaa", nonce: "0f1e2d3c", name: "parent", group: null, role: null };

test("a prompt that the agent tells is the message that was handed over, and no other (BG-06 agents)", () => {
  expect(receipts(told, {})).toMatchObject([{ type: "message.turn_started", id: "m", run: 2 }]);
  expect(receipts({ ...told, prompt: "fix the bug" }, {})).toEqual([]);
  expect(receipts(told, { run: 1 })).toEqual([]);
  expect(receipts(told, { state: "queued" })).toEqual([]);
  expect(receipts(told, { state: "turn_started" })).toEqual([]);
});

test("one that a daemon's death left half handed over was injected if the agent tells of it; so was one that was given up in doubt", () => {
  const types = [{ type: "message.injected" }, { type: "message.turn_started" }];
  expect(receipts(told, { state: "injecting", injectedAt: null })).toMatchObject(types);
  expect(receipts(told, { state: "failed", known: false })).toMatchObject([{ type: "message.turn_started" }]);
  expect(receipts(told, { state: "failed", known: true })).toEqual([]);
});

test("one that was settled has its turn when the agent tells of it soon after, and not when the same is said later (truth 6)", () => {
  const settled = { open: false } as const;
  expect(receipts({ ...told, at: "2026-01-01T00:00:05.000Z" }, settled)).toMatchObject([{ type: "message.turn_started" }]);
  expect(receipts({ ...told, at: "2026-01-01T00:10:00.000Z" }, settled)).toEqual([]);
});

test("an answer ends its turn; an interrupt does not answer, and a failure says why", () => {
  const started = { state: "turn_started" } as const;
  expect(receipts(answered, started)).toMatchObject([{ type: "message.replied", reply: "done" }]);
  expect(receipts({ ...answered, reply: null }, started)).toMatchObject([{ type: "message.replied", reply: null }]);
  expect(receipts({ ...signal, event: "Interrupt" }, started)).toEqual([]);
  expect(receipts({ ...signal, event: "StopFailure", failure: "rate_limit" }, started)).toMatchObject([
    { type: "message.failed", why: "its turn failed: rate_limit", known: true },
  ]);
  expect(receipts(answered, {})).toEqual([]);
});

test("what is told in the middle of another turn is no turn of its own yet, nor is the end of that one its answer", () => {
  expect(receipts(told, { working: true })).toEqual([]);
  expect(receipts(told, { working: true, state: "injecting", injectedAt: null })).toMatchObject([{ type: "message.injected" }]);
  expect(receipts(told, { working: true }, { turnEnded: true })).toMatchObject([{ type: "message.turn_started" }]);
  expect(receipts(answered, { working: true, state: "turn_started" })).toEqual([]);
});

test("what a session sent is told by the agent with the name that the session had then", () => {
  const heard = { ...told, prompt: headed({ ...peer, name: "parent" }, "fix the bug") };
  expect(receipts(heard, { text: headed({ ...peer, name: "renamed" }, "fix the bug") })).toMatchObject([{ type: "message.turn_started" }]);
  // What the user says in the same words is another thing.
  expect(receipts({ ...told, prompt: "fix the bug" }, { text: headed({ ...peer, name: "renamed" }, "fix the bug") })).toEqual([]);
});

test("a prompt is told in whatever form its letters have", () => {
  expect(receipts({ ...told, prompt: "\u00e9 evil" }, { text: "e\u0301 \u202eevil\u202c\x1b" })).toMatchObject([
    { type: "message.turn_started" },
  ]);
});

const started = { id: "first", text: "an earlier one", state: "turn_started", turnId: "t1" } as const;
const interrupted = { type: "message.failed", id: "first", why: "its turn was interrupted before it answered", known: true };

test("a new prompt closes the earlier one as interrupted, and gets its own answer (truth 8)", () => {
  const began = { ...told, turn: "t2" };
  expect(receiptsOfAll(began, [started, {}])).toMatchObject([interrupted, { type: "message.turn_started", id: "m", turn: "t2" }]);
  // Without ids of turns, by what is known: it was handed over when nothing ran.
  expect(receiptsOfAll(told, [{ ...started, turnId: null }, {}])).toMatchObject([interrupted, { type: "message.turn_started" }]);
  // What a person typed, too.
  expect(receiptsOfAll({ ...began, prompt: "typed by hand" }, [started])).toMatchObject([interrupted]);
  expect(receiptsOfAll({ ...told, prompt: "typed by hand" }, [{ ...started, turnId: null }])).toMatchObject([interrupted]);
});

test("a prompt in the middle of the same turn closes nothing (truth 8)", () => {
  const typed = { ...told, prompt: "typed by hand" };
  expect(receiptsOfAll({ ...typed, turn: "t1" }, [started], { atRest: false })).toEqual([]);
  expect(receiptsOfAll(typed, [{ ...started, turnId: null }], { atRest: false })).toEqual([]);
  expect(receiptsOfAll(told, [started, { working: true }], { atRest: false })).toEqual([]);
  // Its screen told of the turn before its hook did.
  expect(receiptsOfAll({ ...told, prompt: "an earlier one" }, [{ ...started, turnId: null }])).toEqual([]);
});

test("an answer is that of its own turn and of no other (truth 8)", () => {
  const second = { ...started, id: "second", turnId: "t2" };
  expect(receiptsOfAll({ ...answered, turn: "t2" }, [started, second])).toMatchObject([{ type: "message.replied", id: "second" }]);
  expect(receiptsOfAll({ ...signal, event: "StopFailure", failure: "why", turn: "t2" }, [started])).toEqual([]);
});

test("one given into a running turn keeps the answer that was told before another began (truth 8)", () => {
  const steered = { ...started, turnId: null, working: true };
  expect(receiptsOfAll(told, [steered, {}], { answer: "its own" })).toMatchObject([
    { type: "message.replied", id: "first", reply: "its own" },
    { type: "message.turn_started", id: "m" },
  ]);
});

const written = { ...signal, event: "outcome", at: "2026-01-01T00:00:01.000Z", written: true } as const;

test("what an agent wrote down of a turn tells whether it was interrupted, and its own only (truth 8)", () => {
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

test("what it wrote down before the message is no word of it, also when the next daemon reads it again (truth 8)", () => {
  const seen = { ...started, turnId: null };
  const before = { ...written, at: "2025-12-31T23:59:59.000Z", turn: "t0" };
  expect(receiptsOfAll({ ...before, interrupted: true }, [started, seen])).toEqual([]);
  expect(receiptsOfAll({ ...before, event: "prompt", prompt: "an older one" }, [started, seen])).toEqual([]);
  expect(receiptsOfAll({ ...written, turn: "t3", interrupted: true }, [seen])).toMatchObject([interrupted]);
});
