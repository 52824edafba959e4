import { existsSync } from "node:fs";
import { REASON, STEER } from "@holdfast/contract/agent-order";
import type { Principal } from "@holdfast/contract/ids";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Puppet } from "./puppet.ts";

const BY = "user:tester" as Principal;
const text = (words: string) => ({ type: "text", text: words });
const OPTIONS = [
  { optionId: "once", name: "Yes", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

afterEach(() => void vi.useRealTimers());

describe("a turn", () => {
  test("is in the transcript from its words to its end, in order and numbered", async () => {
    await using agent = await Puppet.ready();
    const { message, end } = await agent.turn("say hello");
    expect(agent.conversation.state).toMatchObject({ ready: true, conversation: "c1", turn: message });
    agent.update({ sessionUpdate: "agent_thought_chunk", content: text("hm") });
    agent.update({ sessionUpdate: "agent_message_chunk", content: text("hel") });
    agent.update({ sessionUpdate: "agent_message_chunk", content: text("lo") });
    agent.update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "Read", kind: "read" });
    await end();
    expect(agent.entries).toMatchObject([
      { n: 1, type: "note", about: "opened", conversation: "c1", turn: null },
      { n: 2, type: "user", message, turn: message },
      { n: 3, type: "thought", text: "hm", turn: message },
      { n: 4, type: "text", text: "hel" },
      { n: 5, type: "text", text: "lo" },
      { n: 6, type: "tool_started", call: "t1" },
      // It was begun, and its turn is over.
      { n: 7, type: "tool_completed", call: "t1", ok: false },
      { n: 8, type: "turn_ended", reason: "completed", turn: message },
    ]);
    expect(agent.conversation.state.turn).toBeNull();
  });

  test.each([
    ["max_tokens", "max_tokens"],
    ["max_turn_requests", "max_requests"],
    ["refusal", "refused"],
    ["something new", "completed"],
    ["constructor", "completed"],
    [undefined, "completed"],
  ])("that stops for %s has ended: %s", async (stopReason, reason) => {
    await using agent = await Puppet.ready();
    await (await agent.turn()).end({ stopReason });
    expect(agent.of("turn_ended")).toMatchObject([{ reason }]);
  });

  test("that is answered with nothing at all has ended", async () => {
    await using agent = await Puppet.ready();
    await (await agent.turn()).end(null);
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "completed" }]);
  });

  test("that fails says why, and what it took all the same; the next one goes", async () => {
    await using agent = await Puppet.ready();
    await agent.prompt("go");
    const data = { details: "the model is busy", usage: { inputTokens: 5, outputTokens: 0 } };
    await agent.fail("session/prompt", { code: -32603, message: "Internal error", data });
    await agent.until(() => agent.of("turn_ended").length === 1);
    expect(agent.of("error")).toMatchObject([{ code: "agent_failed", message: "Internal error: the model is busy", retry: true }]);
    expect(agent.of("usage")).toMatchObject([{ input: 5 }]);
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "failed" }]);
    await (await agent.turn("again")).end();
  });

  test("that was cancelled has no error, whatever the agent makes of it", async () => {
    await using agent = await Puppet.ready();
    await agent.prompt("go");
    const { id } = await agent.request("session/prompt");
    expect(await agent.conversation.cancel()).toBe(true);
    await agent.request("session/cancel");
    agent.say({ jsonrpc: "2.0", id, error: { code: 1, message: "aborted" } });
    await agent.until(() => agent.of("turn_ended").length === 1);
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "cancelled" }]);
    expect(agent.of("error")).toEqual([]);
    expect(await agent.conversation.cancel()).toBe(false);
  });

  test("that was cancelled before the agent was there is over at once, and never begun", async () => {
    await using agent = new Puppet();
    await agent.prompt("go");
    await agent.conversation.cancel();
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "cancelled" }]);
    await agent.prompt("this instead");
    await agent.answer("initialize", {});
    await agent.answer("session/new", { sessionId: "c1" });
    const { params } = await agent.request("session/prompt");
    expect(params?.prompt).toEqual([{ type: "text", text: "this instead" }]);
    expect(agent.of("turn_ended")).toHaveLength(1);
  });

  test("in the middle of which the agent goes is interrupted, with what it asked for", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    agent.say({
      id: 7,
      method: "session/request_permission",
      params: { sessionId: "c1", toolCall: { toolCallId: "t" }, options: OPTIONS },
    });
    await agent.until(() => agent.conversation.state.asks.length === 1);
    agent.hangUp();
    await agent.until(() => agent.of("turn_ended").length === 1);
    expect(agent.entries.slice(-5)).toMatchObject([
      { type: "approval_asked", ask: "a1" },
      { type: "approval_answered", ask: "a1", option: null, allowed: false, by: null },
      { type: "error", code: "agent_ended" },
      { type: "tool_completed", ok: false },
      { type: "turn_ended", reason: "interrupted" },
    ]);
    await expect(agent.prompt("more")).rejects.toMatchObject({ code: "ended" });
    await expect(agent.conversation.set({ mode: "x" })).rejects.toMatchObject({ code: "ended" });
    await expect(agent.conversation.clear()).rejects.toMatchObject({ code: "ended" });
  });
});

describe("words for a turn that runs", () => {
  test("are given to an agent that takes them, in that turn", async () => {
    await using agent = await Puppet.ready({ can: { _meta: { [STEER]: true } } });
    const { message, end } = await agent.turn("begin");
    const steered = agent.prompt("more", { steer: true });
    expect((await agent.answer(STEER, {})).params).toEqual({ sessionId: "c1", text: "more" });
    await steered;
    await end();
    expect(agent.of("user")).toMatchObject([{ message }, { text: "more", steer: true, turn: message }]);
  });

  test("that the agent does not take begin the next turn, and are in the transcript once", async () => {
    await using agent = await Puppet.ready({ can: { _meta: { [STEER]: true } } });
    const { end } = await agent.turn();
    const steered = agent.prompt("more", { steer: true });
    await agent.fail(STEER, { code: -32600, message: "Invalid request", data: { details: "no turn runs" } });
    await end();
    await steered;
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("more")]);
    expect(agent.of("user")).toMatchObject([{ text: "begin" }, { text: "more", turn: "m2" }]);
  });

  test("end the turn of an agent that does not, and begin the next", async () => {
    await using agent = await Puppet.ready();
    const { end } = await agent.turn();
    const steered = agent.prompt("rather this", { steer: true });
    await agent.request("session/cancel");
    await end({ stopReason: "cancelled" });
    await steered;
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("rather this")]);
    expect(agent.of("user").at(-1)).toMatchObject({ text: "rather this", turn: "m2" });
  });

  test("of a peer do not end the turn of an agent that takes nothing into one", async () => {
    await using agent = await Puppet.ready();
    const { end } = await agent.turn();
    await expect(agent.prompt("psst", { steer: true, patient: true })).rejects.toMatchObject({ code: "busy" });
    await end({ stopReason: "end_turn" });
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "completed" }]);
    await agent.prompt("psst", { steer: true, patient: true });
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("psst")]);
  });

  test("are refused when the agent goes instead of ending its turn, and its keeper still answers", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const steered = agent.prompt("rather this", { steer: true });
    const refused = expect(steered).rejects.toMatchObject({ code: "ended" });
    await agent.request("session/cancel");
    agent.hangUp();
    await refused;
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("without leave to steer are refused while it runs; the same words are taken once", async () => {
    await using agent = await Puppet.ready();
    const { message } = await agent.turn();
    await expect(agent.prompt("other")).rejects.toMatchObject({ code: "busy" });
    await expect(agent.conversation.clear()).rejects.toMatchObject({ code: "busy" });
    await agent.prompt("begin", { message });
    expect(agent.of("user")).toHaveLength(1);
  });
});

describe("leave", () => {
  const ask = (agent: Puppet, request: object = {}) =>
    agent.ask("session/request_permission", {
      sessionId: "c1",
      toolCall: { toolCallId: "t1", title: "Run ls", kind: "execute" },
      options: OPTIONS,
      ...request,
    });

  test("a call that changes while it waits asks anew, and the answer to what it was is not heard (mend 6)", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    agent.update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "List", kind: "execute", rawInput: { command: "ls" } });
    // What asks may name no more than the call.
    const answer = ask(agent, { toolCall: { toolCallId: "t1", title: "List files" } });
    await vi.waitFor(() => expect(agent.of("approval_asked")).toMatchObject([{ ask: "a1", kind: "execute", input: { command: "ls" } }]));
    agent.update({
      sessionUpdate: "tool_call_update",
      toolCallId: "t1",
      status: "pending",
      content: [{ type: "content", content: text("…") }],
    });
    agent.update({ sessionUpdate: "tool_call_update", toolCallId: "t1", rawInput: { command: "rm -rf ~" } });
    await vi.waitFor(() => expect(agent.of("approval_asked")).toHaveLength(2));
    expect(agent.of("approval_asked")[1]).toMatchObject({ ask: "a2", call: "t1", input: { command: "rm -rf ~" } });
    expect(agent.of("approval_answered")).toMatchObject([{ ask: "a1", option: null, allowed: false }]);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: true, always: false, by: BY });
    expect(agent.of("approval_answered")).toHaveLength(1);
    agent.conversation.answer({ t: "answer", id: 2, ask: "a2", allow: false, always: false, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
  });

  test("a call that is over and asks again is shown with what it asks for now (mend 6)", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    agent.update({
      sessionUpdate: "tool_call",
      toolCallId: "t1",
      title: "List",
      kind: "execute",
      rawInput: { command: "ls" },
      status: "completed",
    });
    void ask(agent, { toolCall: { toolCallId: "t1", title: "List", rawInput: { command: "rm -rf ~" } } });
    await vi.waitFor(() => expect(agent.of("approval_asked")).toMatchObject([{ input: { command: "rm -rf ~" } }]));
  });

  test("may be asked for before the call is told of, which then is the same call", async () => {
    await using agent = await Puppet.ready();
    const { end } = await agent.turn();
    const answer = ask(agent);
    await agent.until(() => agent.conversation.state.asks.length === 1);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: true, always: false, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "selected", optionId: "once" } });
    agent.update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "Run ls", kind: "execute" });
    agent.update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
    await end();
    expect(agent.entries.slice(2)).toMatchObject([
      { type: "tool_started", call: "t1", title: "Run ls", kind: "execute" },
      { type: "approval_asked", ask: "a1", call: "t1", title: "Run ls", options: [{ id: "once" }, { id: "always" }, { id: "no" }] },
      { type: "approval_answered", ask: "a1", option: "once", allowed: true, by: BY },
      { type: "tool_completed", call: "t1", ok: true },
      { type: "turn_ended" },
    ]);
  });

  test.each([
    [{ allow: true, always: true }, "always"],
    [{ allow: true, always: false }, "once"],
    [{ allow: false, always: false }, "no"],
  ])("that is answered with %j is %s", async (how, optionId) => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const answer = ask(agent);
    await agent.until(() => agent.conversation.state.asks.length === 1);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", ...how, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "selected", optionId } });
    // A second time it is over already.
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: true, always: true, by: BY });
    expect(agent.of("approval_answered")).toHaveLength(1);
  });

  test("a reason for a denial is in the outcome, and goes into the turn or the next prompt of an agent that does not read it there", async () => {
    const denied = { t: "answer", id: 1, ask: "a1", allow: false, always: false, by: BY, reason: "ask Ada first" } as const;
    await using knows = await Puppet.ready({ can: { _meta: { [STEER]: true, [REASON]: true } } });
    await knows.turn();
    const read = ask(knows);
    await knows.until(() => knows.conversation.state.asks.length === 1);
    knows.conversation.answer(denied);
    expect((await read).result).toEqual({ outcome: { outcome: "selected", optionId: "no", _meta: { [REASON]: "ask Ada first" } } });

    await using other = await Puppet.ready();
    const { end } = await other.turn();
    const unread = ask(other);
    await other.until(() => other.conversation.state.asks.length === 1);
    other.conversation.answer(denied);
    await unread;
    await end();
    await other.prompt("next");
    const { params } = await other.answer("session/prompt", { stopReason: "end_turn" });
    expect(JSON.stringify(params)).toContain("was denied. Reason: ask Ada first]");
  });

  test("to do it once is never leave for more: without such an option it is cancelled", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const answer = ask(agent, { options: [OPTIONS[1], { optionId: "new", name: "New", kind: "allow_until_noon" }, "nonsense"] });
    await agent.until(() => agent.conversation.state.asks.length === 1);
    expect(agent.of("approval_asked")).toMatchObject([{ options: [{ id: "always" }, { id: "new", kind: "allow_always" }] }]);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: true, always: false, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "cancelled" } });
    expect(agent.of("approval_answered")).toMatchObject([{ option: null, allowed: false }]);
  });

  test("is cancelled with its turn, and there is none to ask for outside of one", async () => {
    await using agent = await Puppet.ready();
    expect((await ask(agent)).result).toEqual({ outcome: { outcome: "cancelled" } });
    const { end } = await agent.turn();
    const answer = ask(agent);
    await agent.until(() => agent.conversation.state.asks.length === 1);
    await agent.conversation.cancel();
    expect((await answer).result).toEqual({ outcome: { outcome: "cancelled" } });
    expect((await ask(agent)).result).toEqual({ outcome: { outcome: "cancelled" } });
    await end({ stopReason: "cancelled" });
    expect(agent.of("approval_asked")).toHaveLength(1);
  });

  test("that is asked for a call without an id reaches people all the same", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const answer = ask(agent, { toolCall: {} });
    await agent.until(() => agent.conversation.state.asks.length === 1);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: false, always: false, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
    expect(agent.of("approval_asked")).toMatchObject([{ title: "a tool" }]);
  });
});

describe("what can be chosen", () => {
  const OFFERS = {
    modes: {
      currentModeId: "ask",
      availableModes: [
        { id: "ask", name: "Ask" },
        { id: "auto", name: "Auto" },
      ],
    },
    models: {
      currentModelId: "small",
      availableModels: [
        { modelId: "small", name: "Small" },
        { modelId: "big", name: "Big" },
      ],
    },
  };

  test("is set, and noted; what is not offered is refused with what is", async () => {
    await using agent = await Puppet.ready({ offers: OFFERS });
    const set = agent.conversation.set({ mode: "auto", model: "big" });
    expect((await agent.answer("session/set_mode", null)).params).toEqual({ sessionId: "c1", modeId: "auto" });
    expect((await agent.answer("session/set_model", null)).params).toEqual({ sessionId: "c1", modelId: "big" });
    await set;
    expect(agent.conversation.state.settings).toMatchObject({ mode: "auto", model: "big" });
    expect(agent.of("note").map(({ about }) => about)).toEqual(["opened", "mode", "model"]);
    await expect(agent.conversation.set({ model: "huge" })).rejects.toMatchObject({
      code: "not_offered",
      message: expect.stringContaining("small, big"),
    });
  });

  test("by an option of the agent's own is as it answers; one that answers with nothing has done it too", async () => {
    const option = (currentValue: string) => [
      {
        id: "m",
        category: "model",
        type: "select",
        currentValue,
        options: [
          { value: "x", name: "X" },
          { value: "y", name: "Y" },
        ],
      },
    ];
    await using agent = await Puppet.ready({ offers: { configOptions: option("x") } });
    const set = agent.conversation.set({ model: "y" });
    expect((await agent.answer("session/set_config_option", { configOptions: option("y") })).params).toEqual({
      sessionId: "c1",
      configId: "m",
      value: "y",
    });
    await set;
    expect(agent.conversation.state.settings.model).toBe("y");
    const back = agent.conversation.set({ model: "x" });
    await agent.answer("session/set_config_option", null);
    await back;
    expect(agent.conversation.state.settings.model).toBe("x");
    agent.update({ sessionUpdate: "config_option_update", configOptions: option("y") });
    await agent.settled();
    expect(agent.conversation.state.settings.model).toBe("y");
    await expect(agent.conversation.set({ mode: "z" })).rejects.toMatchObject({
      code: "not_offered",
      message: "the agent offers no mode to choose",
    });
  });

  test("in the order is chosen before the first turn; what cannot be is noted, and the turn goes", async () => {
    await using agent = await Puppet.ready({ offers: OFFERS, order: { mode: "auto", model: "huge" } });
    await agent.answer("session/set_mode", {});
    await (await agent.turn()).end();
    expect(agent.of("note").map(({ about }) => about)).toEqual(["opened", "not_set", "mode"]);
    agent.update({ sessionUpdate: "current_mode_update", currentModeId: "ask" });
    agent.update({
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "help", description: "tells" }, { name: 5 }, null],
    });
    await agent.settled();
    expect(agent.conversation.state.settings).toMatchObject({ mode: "ask", commands: [{ name: "help", description: "tells" }] });
  });
});

describe("a conversation from before", () => {
  const at = { conversation: "c1" };

  test("is resumed by an agent that can, and nothing is shown again", async () => {
    await using agent = new Puppet({ order: { ...at, mcpServers: [{ name: "ours", command: ["hf", "mcp"], env: { A: "b" } }] } });
    await agent.answer("initialize", { agentCapabilities: { sessionCapabilities: { resume: {} }, loadSession: true } });
    const { params } = await agent.answer("session/resume", null);
    expect(params).toMatchObject({
      sessionId: "c1",
      cwd: agent.project,
      mcpServers: [{ name: "ours", command: "hf", args: ["mcp"], env: [{ name: "A", value: "b" }] }],
    });
    await agent.until(() => agent.conversation.state.ready);
    expect(agent.of("note")).toMatchObject([{ about: "opened", text: "the conversation continues", conversation: "c1" }]);
  });

  test("is loaded by one that can only do that; what it shows again, also late, is not said again", async () => {
    await using agent = new Puppet({ order: at });
    await agent.answer("initialize", { agentCapabilities: { loadSession: true } });
    const { id } = await agent.request("session/load");
    agent.update({ sessionUpdate: "agent_message_chunk", content: text("from before") });
    agent.say({ id, result: {} });
    agent.update({ sessionUpdate: "agent_message_chunk", content: text("also from before") });
    await agent.until(() => agent.conversation.state.ready);
    await (await agent.turn()).end();
    expect(agent.of("text")).toEqual([]);
  });

  test("is told to an agent that can do neither, with what was left out", async () => {
    const recall = async (words: string) => ({ words: `before, and: ${words}`, leftOut: "turns 3 to 5 are left out" });
    await using agent = new Puppet({ order: at, recall });
    await agent.answer("initialize", {});
    await agent.answer("session/new", { sessionId: "c2" });
    const turn = await agent.turn("go on");
    await turn.end();
    expect(agent.of("note")).toMatchObject([
      { about: "opened", conversation: "c2" },
      { about: "left_out", text: "turns 3 to 5 are left out" },
    ]);
    await agent.prompt("and more");
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("and more")]);
  });

  test("that the agent does not know any more ends it, with what to do", async () => {
    await using agent = new Puppet({ order: at });
    await agent.prompt("go");
    await agent.answer("initialize", { agentCapabilities: { sessionCapabilities: { resume: {} } } });
    await agent.fail("session/resume", { code: -32002, message: "Resource not found" });
    await agent.until(() => agent.exits.length > 0);
    expect(agent.of("error")[0]).toMatchObject({
      message: "the agent cannot continue its conversation c1: Resource not found",
      hint: expect.stringContaining("--fresh"),
    });
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "failed" }]);
  });

  test("is not given back too soon to an agent that would lose it", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    await using agent = new Puppet({ order: { ...at, notBefore: 1_000_100 } });
    expect(agent.of("note")).toMatchObject([{ about: "opening" }]);
    await agent.answer("initialize", { agentCapabilities: { loadSession: true } });
  });
});

describe("an agent that cannot begin", () => {
  test.each([
    ["gives no id", { sessionId: 5 }, "the agent began a conversation without an id (no sessionId)"],
    ["answers with nothing", null, "the agent began a conversation without an id (no sessionId)"],
  ])("because it %s is ended, and it is said why", async (_, answer, message) => {
    await using agent = new Puppet();
    await agent.answer("initialize", null);
    await agent.answer("session/new", answer);
    await agent.until(() => agent.exits.length > 0);
    expect(agent.of("error")).toMatchObject([{ message, hint: null }]);
  });

  test("because nobody is logged in says so", async () => {
    await using agent = new Puppet();
    await agent.fail("initialize", { code: -32000, message: "Authentication required" });
    await agent.until(() => agent.exits.length > 0);
    expect(agent.of("error")).toMatchObject([{ code: "unauthenticated", hint: expect.stringContaining("log in") }]);
  });

  test("because it ends at once leaves nobody waiting", async () => {
    await using agent = new Puppet({ program: "echo broken >&2; exit 3" });
    await agent.prompt("go");
    await agent.until(() => agent.of("turn_ended").length === 1);
    expect(agent.exits).toEqual([{ code: 3, signal: 0 }]);
    expect(agent.errors.join("")).toContain("broken");
    expect(agent.agent.isSilent).toBe(true);
    expect(agent.of("error")).toMatchObject([
      { code: "agent_failed", message: "the agent ended", hint: "read its output: holdfast logs NAME" },
    ]);
  });
});

test("cleared, the agent begins another conversation in the same process, and the transcript stays", async () => {
  await using agent = await Puppet.ready();
  await (await agent.turn()).end();
  const cleared = agent.conversation.clear();
  await agent.answer("session/new", { sessionId: "c2" });
  await cleared;
  expect(agent.of("note").at(-1)).toMatchObject({ about: "cleared", conversation: "c2" });
  await agent.prompt("anew");
  expect((await agent.request("session/prompt")).params?.sessionId).toBe("c2");
  expect(existsSync(agent.run)).toBe(true);
});

test("what was used may be told after the turn, and is that turn's", async () => {
  await using agent = await Puppet.ready();
  const { message, end } = await agent.turn();
  await end();
  agent.update({ sessionUpdate: "usage_update", used: 12, size: 100, cost: { amount: 0.5, currency: "USD" } });
  await agent.until(() => agent.of("usage").length === 1);
  expect(agent.of("usage")).toMatchObject([{ turn: message, cost: 0.5, context: { used: 12, size: 100 } }]);
});

test("what is said after the end of a turn is kept with it; what comes of its tools then is over", async () => {
  await using agent = await Puppet.ready();
  const { message, end } = await agent.turn();
  agent.update({ sessionUpdate: "tool_call", toolCallId: "t", title: "sleep", status: "in_progress" });
  await end({ stopReason: "cancelled" });
  const before = agent.entries.length;
  agent.update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" });
  agent.update({ sessionUpdate: "agent_message_chunk", content: text("too late") });
  await agent.settled();
  expect(agent.entries.slice(before)).toMatchObject([{ type: "text", text: "too late", turn: message }]);
});

test("an empty memory leaves the mode and the model that were chosen", async () => {
  const modes = { currentModeId: "auto", availableModes: ["auto", "ask"].map((id) => ({ id, name: id })) };
  await using agent = await Puppet.ready({ offers: { modes } });
  const chosen = agent.conversation.set({ mode: "ask" });
  await agent.answer("session/set_mode", {});
  await chosen;
  const cleared = agent.conversation.clear();
  await agent.answer("session/new", { sessionId: "c2", modes });
  expect((await agent.answer("session/set_mode", {})).params).toEqual({ sessionId: "c2", modeId: "ask" });
  await cleared;
  expect(agent.conversation.state.settings.mode).toBe("ask");
});

test("one in which nothing was said begins anew: its agent may not have kept it", async () => {
  await using agent = new Puppet({ order: { conversation: "c1", isEmpty: true } });
  await agent.answer("initialize", { agentCapabilities: { loadSession: true } });
  await agent.answer("session/new", { sessionId: "c2" });
  await agent.until(() => agent.conversation.state.ready);
  expect(agent.of("note")).toMatchObject([{ about: "opened", text: "the conversation begins", conversation: "c2" }]);
});
