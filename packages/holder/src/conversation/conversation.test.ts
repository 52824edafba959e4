import { existsSync } from "node:fs";
import { REASON, STEER } from "@holdfast/contract/agent/order";
import type { Principal } from "@holdfast/contract/ids";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Puppet } from "../../test/puppet.ts";

const BY = "user:tester" as Principal;
const text = (words: string) => ({ type: "text", text: words });
const OPTIONS = [
  { optionId: "once", name: "Yes", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

afterEach(() => void vi.useRealTimers());

describe("turns", () => {
  test("a turn is in the transcript from its prompt to its end, in order and numbered", async () => {
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
      // The call was started, and its turn is over.
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
  ])("a turn that stops for %s has ended: %s", async (stopReason, reason) => {
    await using agent = await Puppet.ready();
    await (await agent.turn()).end({ stopReason });
    expect(agent.of("turn_ended")).toMatchObject([{ reason }]);
  });

  test("a turn without any result has ended", async () => {
    await using agent = await Puppet.ready();
    await (await agent.turn()).end(null);
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "completed" }]);
  });

  test("a failed turn records its error and usage, and the next turn starts", async () => {
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

  test("a cancelled turn has no error, whatever the agent answers", async () => {
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

  test("a turn cancelled before the agent is ready ends at once and is never sent", async () => {
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

  test("a turn is interrupted, and its permission requests are cancelled, when the agent exits", async () => {
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

describe("messages to a running turn", () => {
  test("an agent that supports steering gets the message in the running turn", async () => {
    await using agent = await Puppet.ready({ can: { _meta: { [STEER]: true } } });
    const { message, end } = await agent.turn("begin");
    const steered = agent.prompt("more", { steer: true });
    expect((await agent.answer(STEER, {})).params).toEqual({ sessionId: "c1", text: "more" });
    await steered;
    await end();
    expect(agent.of("user")).toMatchObject([{ message }, { text: "more", steer: true, turn: message }]);
  });

  test("a message that the agent refuses begins the next turn, and is in the transcript once", async () => {
    await using agent = await Puppet.ready({ can: { _meta: { [STEER]: true } } });
    const { end } = await agent.turn();
    const steered = agent.prompt("more", { steer: true });
    await agent.fail(STEER, { code: -32600, message: "Invalid request", data: { details: "no turn runs" } });
    await end();
    await steered;
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("more")]);
    expect(agent.of("user")).toMatchObject([{ text: "begin" }, { text: "more", turn: "m2" }]);
  });

  test("a steering message to an agent without steering cancels the turn and begins the next", async () => {
    await using agent = await Puppet.ready();
    const { end } = await agent.turn();
    const steered = agent.prompt("rather this", { steer: true });
    await agent.request("session/cancel");
    await end({ stopReason: "cancelled" });
    await steered;
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("rather this")]);
    expect(agent.of("user").at(-1)).toMatchObject({ text: "rather this", turn: "m2" });
  });

  test("a peer's message does not end the turn of an agent without steering", async () => {
    await using agent = await Puppet.ready();
    const { end } = await agent.turn();
    await expect(agent.prompt("psst", { steer: true, patient: true })).rejects.toMatchObject({ code: "busy" });
    await end({ stopReason: "end_turn" });
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "completed" }]);
    await agent.prompt("psst", { steer: true, patient: true });
    expect((await agent.request("session/prompt")).params?.prompt).toEqual([text("psst")]);
  });

  test("a steering message is refused if the agent exits instead of ending its turn", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const steered = agent.prompt("rather this", { steer: true });
    const refused = expect(steered).rejects.toMatchObject({ code: "ended" });
    await agent.request("session/cancel");
    agent.hangUp();
    await refused;
    expect(agent.of("turn_ended")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("a message that does not steer is refused while a turn runs, and a repeated message is taken once", async () => {
    await using agent = await Puppet.ready();
    const { message } = await agent.turn();
    await expect(agent.prompt("other")).rejects.toMatchObject({ code: "busy" });
    await expect(agent.conversation.clear()).rejects.toMatchObject({ code: "busy" });
    await agent.prompt("begin", { message });
    expect(agent.of("user")).toHaveLength(1);
  });
});

describe("permission requests", () => {
  const ask = (agent: Puppet, request: object = {}) =>
    agent.ask("session/request_permission", {
      sessionId: "c1",
      toolCall: { toolCallId: "t1", title: "Run ls", kind: "execute" },
      options: OPTIONS,
      ...request,
    });

  test("a call that changes while it waits is asked again, and the answer to the earlier request has no effect (mend 6)", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    agent.update({ sessionUpdate: "tool_call", toolCallId: "t1", title: "List", kind: "execute", rawInput: { command: "ls" } });
    // A permission request may contain only the id and title of its call.
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

  test("a completed call that asks again is shown with its current input (mend 6)", async () => {
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

  test("a permission request may come before its call, which is then the same call", async () => {
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
  ])("a permission request answered with %j selects %s", async (how, optionId) => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const answer = ask(agent);
    await agent.until(() => agent.conversation.state.asks.length === 1);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", ...how, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "selected", optionId } });
    // A second answer has no effect.
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: true, always: true, by: BY });
    expect(agent.of("approval_answered")).toHaveLength(1);
  });

  test("a denial carries its reason to an agent that reads it, and leaves it to the daemon for any other", async () => {
    const denied = { t: "answer", id: 1, ask: "a1", allow: false, always: false, by: BY, reason: "ask Ada first" } as const;
    await using knows = await Puppet.ready({ can: { _meta: { [STEER]: true, [REASON]: true } } });
    await knows.turn();
    const read = ask(knows);
    await knows.until(() => knows.conversation.state.asks.length === 1);
    knows.conversation.answer(denied);
    expect((await read).result).toEqual({ outcome: { outcome: "selected", optionId: "no", _meta: { [REASON]: "ask Ada first" } } });
    expect(knows.of("approval_answered")[0]).not.toHaveProperty("untold");

    await using other = await Puppet.ready();
    const { end } = await other.turn();
    const unread = ask(other);
    await other.until(() => other.conversation.state.asks.length === 1);
    other.conversation.answer(denied);
    await unread;
    expect(other.of("approval_answered")).toMatchObject([{ option: "no", untold: "ask Ada first" }]);
    await end();
    await other.prompt("next");
    const { params } = await other.answer("session/prompt", { stopReason: "end_turn" });
    expect(JSON.stringify(params)).not.toContain("ask Ada first");
  });

  test("a single permission never allows more: without a matching option the request is cancelled", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const answer = ask(agent, { options: [OPTIONS[1], { optionId: "new", name: "New", kind: "allow_until_noon" }, "nonsense"] });
    await agent.until(() => agent.conversation.state.asks.length === 1);
    expect(agent.of("approval_asked")).toMatchObject([{ options: [{ id: "always" }, { id: "new", kind: "allow_always" }] }]);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: true, always: false, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "cancelled" } });
    expect(agent.of("approval_answered")).toMatchObject([{ option: null, allowed: false }]);
  });

  test("a permission request is cancelled with its turn, and outside a turn at once", async () => {
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

  test("a permission request for a call without an id is still shown", async () => {
    await using agent = await Puppet.ready();
    await agent.turn();
    const answer = ask(agent, { toolCall: {} });
    await agent.until(() => agent.conversation.state.asks.length === 1);
    agent.conversation.answer({ t: "answer", id: 1, ask: "a1", allow: false, always: false, by: BY });
    expect((await answer).result).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
    expect(agent.of("approval_asked")).toMatchObject([{ title: "a tool" }]);
  });
});

describe("modes and models", () => {
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

  test("a mode and a model are set and noted, and an unavailable one is refused with the available ones", async () => {
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

  test("a model that is a config option is as the agent reports it, and an empty response means that it was set", async () => {
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

  test("the mode and model of the order are set before the first turn; an unavailable one is noted, and the turn runs", async () => {
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

describe("continued conversations", () => {
  const at = { conversation: "c1" };

  test("an agent that can resume resumes the conversation, and nothing is shown again", async () => {
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

  test.each([
    ["session/resume", { sessionCapabilities: { resume: {} } }],
    ["session/load", { loadSession: true }],
    ["session/new", {}],
  ])("%s opens the conversation with the options of the agent's profile, also after a clear", async (method, agentCapabilities) => {
    const meta = { claudeCode: { options: { agent: "role" } } };
    await using agent = new Puppet({ order: { ...at, meta } });
    await agent.answer("initialize", { agentCapabilities });
    expect((await agent.answer(method, { sessionId: "c2" })).params).toMatchObject({ cwd: agent.project, _meta: meta });
    await agent.until(() => agent.conversation.state.ready);
    const cleared = agent.conversation.clear();
    expect((await agent.answer("session/new", { sessionId: "c3" })).params).toMatchObject({ _meta: meta });
    await cleared;
  });

  test("an agent that can only load loads the conversation, and its replayed updates, even late ones, are not recorded again", async () => {
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

  test("an agent that can neither resume nor load gets the earlier turns in its first prompt, and omitted turns are noted", async () => {
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

  test("a conversation that the agent no longer knows ends the agent, with a hint", async () => {
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

  test("a conversation is reopened only after the time before which the agent would lose it", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    await using agent = new Puppet({ order: { ...at, notBefore: 1_000_100 } });
    expect(agent.of("note")).toMatchObject([{ about: "opening" }]);
    await agent.answer("initialize", { agentCapabilities: { loadSession: true } });
  });
});

describe("an agent that cannot begin a conversation", () => {
  test.each([
    ["gives no id", { sessionId: 5 }, "the agent began a conversation without an id (no sessionId)"],
    ["answers with nothing", null, "the agent began a conversation without an id (no sessionId)"],
  ])("an agent that %s is ended with an error", async (_, answer, message) => {
    await using agent = new Puppet();
    await agent.answer("initialize", null);
    await agent.answer("session/new", answer);
    await agent.until(() => agent.exits.length > 0);
    expect(agent.of("error")).toMatchObject([{ message, hint: null }]);
  });

  test("an agent without a login is reported as unauthenticated", async () => {
    await using agent = new Puppet();
    await agent.fail("initialize", { code: -32000, message: "Authentication required" });
    await agent.until(() => agent.exits.length > 0);
    expect(agent.of("error")).toMatchObject([{ code: "unauthenticated", hint: expect.stringContaining("log in") }]);
  });

  test("an agent that exits at once fails the waiting turn", async () => {
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

test("clearing begins another conversation in the same process and keeps the transcript", async () => {
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

test("usage reported after a turn belongs to that turn", async () => {
  await using agent = await Puppet.ready();
  const { message, end } = await agent.turn();
  await end();
  agent.update({ sessionUpdate: "usage_update", used: 12, size: 100, cost: { amount: 0.5, currency: "USD" } });
  await agent.until(() => agent.of("usage").length === 1);
  expect(agent.of("usage")).toMatchObject([{ turn: message, cost: 0.5, context: { used: 12, size: 100 } }]);
});

test("text after the end of a turn is recorded with it, and late updates of its tools are not", async () => {
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

test("clearing keeps the chosen mode and model", async () => {
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

test("an empty conversation starts again, because its agent may not have stored it", async () => {
  await using agent = new Puppet({ order: { conversation: "c1", isEmpty: true } });
  await agent.answer("initialize", { agentCapabilities: { loadSession: true } });
  await agent.answer("session/new", { sessionId: "c2" });
  await agent.until(() => agent.conversation.state.ready);
  expect(agent.of("note")).toMatchObject([{ about: "opened", text: "the conversation begins", conversation: "c2" }]);
});
