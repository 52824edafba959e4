import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { TurnUse } from "./token-use.ts";

const NOTHING = { model: "m", input: null, output: null, cacheRead: null, cacheWrite: null, cost: null, context: null };

function use(result: unknown, ...updates: object[]) {
  const turn = new TurnUse({ isNew: true });
  for (const update of updates) turn.hear(update as SessionUpdate);
  return turn.take(result, "m");
}

test("qwen reports usage with empty text chunks, one for each model request, which are summed", () => {
  const piece = (inputTokens: number, outputTokens: number, cachedReadTokens: number) => ({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text: "" },
    _meta: { usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens + 1, cachedReadTokens } },
  });
  expect(use({ stopReason: "end_turn" }, piece(100, 10, 0), piece(200, 20, 50))).toEqual({
    ...NOTHING,
    input: 300,
    output: 30,
    cacheRead: 50,
  });
});

test("opencode reports context and cost during a turn, and tokens with its answer", () => {
  const update = { sessionUpdate: "usage_update", used: 1500, size: 200_000, cost: { amount: 0.02, currency: "USD" } };
  const result = { stopReason: "end_turn", usage: { inputTokens: 1000, outputTokens: 50, totalTokens: 1550, cachedReadTokens: 500 } };
  expect(use(result, update)).toEqual({
    ...NOTHING,
    input: 1000,
    output: 50,
    cacheRead: 500,
    cost: 0.02,
    context: { used: 1500, size: 200_000 },
  });
});

test("gemini reports usage in the quota of its answer's _meta", () => {
  expect(use({ stopReason: "end_turn", _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 3 } } } })).toEqual({
    ...NOTHING,
    input: 7,
    output: 3,
  });
});

test("claude and codex report usage in their answer, which wins over the quota", () => {
  const result = {
    usage: { inputTokens: 5, outputTokens: 2, cachedWriteTokens: 40 },
    _meta: { quota: { token_count: { input_tokens: 9, output_tokens: 9 } } },
  };
  expect(use(result)).toEqual({ ...NOTHING, input: 5, output: 2, cacheWrite: 40 });
});

test("Holdfast's own agents report complete usage, which is taken unchanged", () => {
  const own = { model: "scripted", input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: null, context: null };
  expect(use({ _meta: { usage: own } }, { sessionUpdate: "usage_update", used: 3, size: 10 })).toEqual({
    ...own,
    context: { used: 3, size: 10 },
  });
  // Invalid usage of our own agents is not read in any other way.
  expect(use({ _meta: { usage: { ...own, input: -1 } } })).toBeUndefined();
});

test("cache tokens are 0 if the total accounts for all tokens, and otherwise unknown", () => {
  expect(use({ usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } })).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
  expect(use({ usage: { inputTokens: 5, outputTokens: 2, totalTokens: 9 } })).toMatchObject({ cacheRead: null, cacheWrite: null });
});

test("a turn's cost is the increase of the conversation's cost", () => {
  const turn = new TurnUse({ isNew: true });
  const cost = (amount: unknown, currency = "USD") =>
    turn.hear({ sessionUpdate: "usage_update", used: 1, size: 0, cost: { amount, currency } } as unknown as SessionUpdate);
  cost(0.1);
  cost(0.25);
  expect(turn.take(undefined, null)).toMatchObject({ cost: 0.25, context: { used: 1, size: null } });
  cost(0.75);
  expect(turn.take(undefined, null)).toMatchObject({ cost: 0.5 });
  // The agent started counting again: the cost is never negative.
  cost(0.2);
  expect(turn.take(undefined, null)).toMatchObject({ cost: 0 });
  cost(1, "EUR");
  expect(turn.take(undefined, null)).toMatchObject({ cost: null });
  for (const amount of [-1, "much", null]) cost(amount);
  expect(turn.take(undefined, null)).toMatchObject({ cost: null });
});

test("missing usage stays undefined, and invalid numbers are ignored", () => {
  expect(use({ stopReason: "end_turn" })).toBeUndefined();
  expect(use(null)).toBeUndefined();
  expect(use({ usage: { inputTokens: "many" } })).toBeUndefined();
  expect(use({ usage: { inputTokens: -5, outputTokens: 1e300, prompt_tokens: 4.4 } })).toEqual({ ...NOTHING, input: 4 });
  expect(use(undefined, { sessionUpdate: "usage_update", used: "all", size: {} })).toBeUndefined();
  expect(use(undefined, { sessionUpdate: "usage_update", used: -1, size: 5 })).toBeUndefined();
});

test("only updates with usage are taken", () => {
  const turn = new TurnUse({ isNew: true });
  expect(turn.hear({ sessionUpdate: "usage_update", used: 1, size: 2 })).toBe(true);
  expect(turn.hear({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "words" } })).toBe(false);
  expect(turn.hear({ sessionUpdate: "plan", entries: [] })).toBe(false);
});

test("the usage of a running turn is known from each agent's own reports (mend 15)", () => {
  const hear = (turn: TurnUse, ...updates: object[]) => {
    for (const update of updates) turn.hear(update as SessionUpdate);
    return turn.soFar("m");
  };
  const text = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "" } };
  const qwen = { ...text, _meta: { usage: { inputTokens: 100, outputTokens: 10 } } };
  expect(hear(new TurnUse({ isNew: true }), qwen, qwen)).toMatchObject({ input: 200, output: 20 });
  const own = { model: "x", input: 7, output: 3, cacheRead: 0, cacheWrite: 0, cost: null, context: null };
  const ours = new TurnUse({ isNew: true });
  expect(hear(ours, { ...text, _meta: { usage: own } }, { ...text, _meta: { usage: { ...own, input: 9 } } })).toEqual({ ...own, input: 9 });
  // A turn that ends without a report has used what it reported so far.
  expect(ours.take({ stopReason: "cancelled" }, "m")).toEqual({ ...own, input: 9 });
  expect(ours.soFar("m")).toBeUndefined();
});

test("context growth is the estimated usage of an agent that reports only its context (mend 15)", () => {
  const fill = (used: number) => ({ sessionUpdate: "usage_update", used, size: 1000 }) as SessionUpdate;
  const turn = new TurnUse({ isNew: true });
  turn.hear(fill(300));
  turn.hear(fill(500));
  expect(turn.soFar("m")).toMatchObject({ input: 500, output: 0, estimated: true });
  // The agent's own count comes first.
  const told = { usage: { inputTokens: 450, outputTokens: 60, totalTokens: 510 } };
  expect(turn.take(told, "m")).toEqual({
    ...NOTHING,
    input: 450,
    output: 60,
    cacheRead: 0,
    cacheWrite: 0,
    context: { used: 500, size: 1000 },
  });
  turn.hear(fill(100));
  turn.hear(fill(120));
  expect(turn.take({ stopReason: "cancelled" }, "m")).toMatchObject({ input: 20, estimated: true });
  const resumed = new TurnUse({ isNew: false });
  resumed.hear(fill(700));
  expect(resumed.soFar("m")).toBeUndefined();
});
