/** Nothing that an agent sends is validated before it is handled: the keeper must keep running and the transcript must stay readable. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Puppet } from "../../test/puppet.ts";

const UPDATES = [
  { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "words" }, _meta: { usage: { inputTokens: 3, outputTokens: 4 } } },
  { sessionUpdate: "agent_thought_chunk", content: { type: "resource", resource: { uri: "file:///a", text: "a" } } },
  { sessionUpdate: "agent_message_chunk", content: { type: "image", mimeType: "image/png", data: "" } },
  {
    sessionUpdate: "tool_call",
    toolCallId: "t1",
    title: "Edit a",
    kind: "edit",
    status: "pending",
    rawInput: { path: "a" },
    locations: [{ path: "a", line: 1 }],
    content: [
      { type: "content", content: { type: "text", text: "out" } },
      { type: "diff", path: "a", oldText: null, newText: "b" },
      { type: "terminal", terminalId: "x" },
    ],
  },
  { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed", rawOutput: "done" },
  { sessionUpdate: "plan", entries: [{ content: "step", status: "pending", priority: "high" }] },
  { sessionUpdate: "notice", title: "look", description: "here", _meta: { "holdfast/about": "context" } },
  { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 1, currency: "USD" } },
  { sessionUpdate: "available_commands_update", availableCommands: [{ name: "help", description: "tells" }] },
  { sessionUpdate: "current_mode_update", currentModeId: "ask" },
  {
    sessionUpdate: "config_option_update",
    configOptions: [{ id: "model", category: "model", type: "select", currentValue: "x", options: [{ value: "x", name: "X" }] }],
  },
];

const REQUESTS = [
  {
    method: "session/request_permission",
    params: {
      sessionId: "c1",
      toolCall: { toolCallId: "t2", title: "Run", kind: "execute", rawInput: {} },
      options: [{ optionId: "once", name: "Yes", kind: "allow_once" }],
    },
  },
  { method: "fs/read_text_file", params: { sessionId: "c1", path: "a.txt", line: 1, limit: 2 } },
  { method: "fs/write_text_file", params: { sessionId: "c1", path: "b.txt", content: "b" } },
  {
    method: "terminal/create",
    params: { sessionId: "c1", command: "true", args: [], env: [{ name: "A", value: "b" }], outputByteLimit: 9 },
  },
  { method: "terminal/output", params: { sessionId: "c1", terminalId: "none" } },
  { method: "terminal/release", params: { sessionId: "c1", terminalId: "none" } },
];

const odd = fc.oneof(
  fc.constantFrom(null, true, "", "constructor", "__proto__", -1, 0.5, 1e300, [], {}, [null], [[]], { type: "text" }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** One of the valid objects with one of its parts replaced or removed. */
function nearly(valid: readonly object[]): fc.Arbitrary<object> {
  return fc
    .record({ which: fc.constantFrom(...valid), at: fc.nat(), value: odd, remove: fc.boolean() })
    .map(({ which, at, value, remove }) => {
      const whole = structuredClone(which) as Record<string, unknown>;
      const places = placesIn(whole);
      const place = places[at % places.length];
      if (place && remove && !Array.isArray(place.of)) delete place.of[place.key];
      else if (place) place.of[place.key] = value;
      return whole;
    });
}

type Parts = Record<string, unknown>;

function placesIn(value: unknown): { of: Parts; key: string }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => [{ of: value as Parts, key }, ...placesIn((value as Parts)[key])]);
}

const message = fc.oneof(
  nearly(UPDATES).map((update) => ({ method: "session/update", params: { sessionId: "c1", update } })),
  nearly(UPDATES.map((update) => ({ method: "session/update", params: { sessionId: "c1", update } }))),
  nearly(REQUESTS).map((request) => ({ id: 1, ...request })),
  fc.record({ id: odd, result: odd }),
  fc.record({ id: odd, error: odd }),
  odd,
);

const line = fc.oneof(
  { weight: 8, arbitrary: message.map((each) => Buffer.from(JSON.stringify(each))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))) },
  { weight: 1, arbitrary: fc.string().map((text) => Buffer.from(text.replaceAll("\n", ""))) },
);

let agent: Puppet;
beforeAll(async () => {
  agent = await Puppet.ready();
});
afterAll(() => agent[Symbol.asyncDispose]());

test("a keeper keeps running and its transcript stays readable, whatever an agent sends", { timeout: 60_000 }, async () => {
  const { end } = await agent.turn();
  const property = fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (lines) => {
    const before = agent.entries.length;
    for (const each of lines) agent.raw(Buffer.concat([each, Buffer.from("\n")]));
    await agent.settled();
    const fresh = agent.entries.slice(before);
    expect(fresh.filter((entry) => typeof entry !== "object")).toEqual([]);
    expect(agent.exits).toEqual([]);
  });
  await fc.assert(property, { numRuns: 150 });
  await end();
  expect(agent.of("turn_ended")).toHaveLength(1);
  await (await agent.turn("and again")).end();
  expect(agent.entries.map((entry) => (typeof entry === "object" ? entry.n : entry))).toEqual(agent.entries.map((_, index) => index + 1));
});

test("a turn ends and its usage is readable, whatever the agent answers to the prompt", { timeout: 60_000 }, async () => {
  const results = [
    {
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      _meta: { quota: { token_count: { input_tokens: 1 } } },
    },
    { stopReason: "cancelled", _meta: { usage: { model: "m", input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 5, context: null } } },
  ];
  const property = fc.asyncProperty(fc.oneof(nearly(results), odd), async (result) => {
    await (await agent.turn()).end(result);
  });
  await fc.assert(property, { numRuns: 60 });
  expect(agent.entries.filter((entry) => typeof entry !== "object")).toEqual([]);
});

test("an update nested too deeply to be written is skipped, and no entry number is skipped", async () => {
  const { end } = await agent.turn();
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const before = agent.nonsense.length;
  agent.raw(
    `{"method":"session/update","params":{"sessionId":"c1","update":{"sessionUpdate":"tool_call","toolCallId":"deep","rawInput":${deep}}}}\n`,
  );
  await agent.settled();
  await end();
  const numbers = agent.entries.map((entry) => (typeof entry === "object" ? entry.n : entry));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(agent.nonsense.length - before + agent.of("tool_started").filter(({ call }) => call === "deep").length).toBeGreaterThan(0);
});
