import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Memory } from "../demo/memory.ts";
import { chosen, type Options, TestClient } from "./test-client.ts";

const PATIENCE = { timeout: 10_000, interval: 10 };
const home = mkdtempSync(path.join(tmpdir(), "holdfast-acp-"));
let agent: TestClient;

beforeAll(async () => {
  vi.stubEnv("XDG_STATE_HOME", path.join(home, ".local/state"));
  agent = await start();
});
beforeEach(() => agent.reset());
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** Runs the agent in this process. */
const start = (options: Options = {}) => TestClient.start(options);
/** Runs the agent in its own process, as clients do. */
const startApart = (options: Options = {}) => TestClient.start({ home, ...options });

/** One turn in a new conversation. */
async function turn(prompt: string) {
  return agent.prompt(await agent.open(), prompt);
}

/** Starts a long turn and returns once it is running. */
async function underWay(sessionId: string, prompt: string) {
  const ended = agent.prompt(sessionId, `think I begin; ${prompt}`);
  ended.catch(() => {});
  await vi.waitFor(() => expect(agent.text("agent_thought_chunk")).toBe("I begin"), PATIENCE);
  return { ended };
}

describe("the scripted ACP agent", () => {
  it("reports its capabilities", async () => {
    expect(agent.initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "demo" },
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {} } },
    });
    expect(await agent.agent.request("authenticate", { methodId: "none" })).toEqual({});
    const session = await agent.agent.request("session/new", { cwd: "/project", mcpServers: [] });
    expect(session.modes).toMatchObject({ currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "auto" }] });
    expect(session.configOptions).toMatchObject([{ id: "model", category: "model", currentValue: "demo-small" }]);
    await vi.waitFor(
      () => expect(agent.of("available_commands_update")).toMatchObject([{ availableCommands: [{ name: "help" }] }]),
      PATIENCE,
    );
  });

  it("says and thinks what the prompt says, word by word", async () => {
    const result = await turn("think first of all; say one two three");
    expect(result.stopReason).toBe("end_turn");
    expect(agent.text("agent_thought_chunk")).toBe("first of all");
    expect(agent.text()).toBe("one two three");
    expect(agent.of("agent_message_chunk")).toHaveLength(3);
  });

  it("answers a prompt that is not a script like a coding agent", async () => {
    await using agent = await start({ args: [] });
    await agent.prompt(await agent.open(), "fix the login bug\nand test it");
    expect(agent.of("tool_call").map(({ title, kind }) => `${kind}: ${title}`)).toEqual([
      "read: Read src/login.ts",
      "edit: Edit src/login.ts",
      "execute: Run npm test",
    ]);
    expect(agent.of("tool_call_update").every(({ status }) => status === "completed")).toBe(true);
    expect(agent.text()).toBe("Turn 1: “fix the login bug …” (2 lines) is done. I changed src/login.ts; the tests pass.");
  });

  it("lists its steps on help", async () => {
    await turn("/help");
    for (const word of ["say TEXT", "stream N", "ask TOOL", "run COMMAND", "remember X", "usage IN OUT", "hang"])
      expect(agent.text()).toContain(word);
  });

  it("streams the given number of chunks, complete and in order", async () => {
    await turn("stream 1000");
    expect(agent.text().trim().split(" ").map(Number)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
  });

  it("streams at the given rate", async () => {
    const began = performance.now();
    await turn("stream 11 100");
    expect(performance.now() - began).toBeGreaterThanOrEqual(99);
  });

  it("continues once the awaited file exists", async () => {
    const go = path.join(home, "go");
    const going = turn(`say begun; until ${go}; say over`);
    await vi.waitFor(() => expect(agent.text()).toBe("begun"), PATIENCE);
    writeFileSync(go, "");
    await going;
    expect(agent.text()).toBe("begun\nover");
  });

  it("shows a plan whose steps are completed one by one", async () => {
    await turn("plan");
    expect(agent.of("plan").map(({ entries }) => entries.map(({ status }) => status).join(" "))).toEqual([
      "in_progress pending pending",
      "completed in_progress pending",
      "completed completed in_progress",
      "completed completed completed",
    ]);
  });

  it("supports the steps of the demo agent in a terminal: wait, talk, error and questions", async () => {
    agent.answer = chosen("choice-2");
    await turn("wait 5ms; talk 200ms; ask Which one? | red | blue");
    expect(agent.text()).toContain("The tool answered: blue");
    expect(agent.asked[0]?.options.map(({ name }) => name)).toEqual(["red", "blue"]);
    await expect(turn("error 500")).rejects.toThrow(/API error 500/);
  });

  it("answers questions about itself and its input", async () => {
    vi.stubEnv("COLOUR", "green");
    const { sessionId } = await agent.agent.request("session/new", {
      cwd: "/project",
      mcpServers: [{ name: "holdfast", command: "holdfast", args: ["mcp"], env: [] }],
    });
    await agent.agent.request("session/set_config_option", { sessionId, configId: "model", value: "demo-large" });
    await agent.agent.request("session/set_mode", { sessionId, modeId: "auto" });
    await agent.agent.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "about; blocks; env COLOUR; env NOTHING" },
        { type: "resource_link", uri: "file:///a.ts", name: "a.ts" },
        { type: "resource", resource: { uri: "file:///b.ts", text: "b" } },
      ],
    });
    expect(agent.text().split("\n")).toEqual([
      "mode auto, model demo-large, directory /project, MCP servers: holdfast",
      "text, resource_link file:///a.ts, resource file:///b.ts",
      "green",
      "NOTHING is not set",
    ]);
  });

  it("refuses unknown modes, models and conversations", async () => {
    const sessionId = await agent.open();
    await expect(agent.agent.request("session/set_mode", { sessionId, modeId: "reckless" })).rejects.toThrow(/no mode reckless/);
    await expect(agent.agent.request("session/set_config_option", { sessionId, configId: "model", value: "huge" })).rejects.toThrow(
      /no option/,
    );
    await expect(agent.prompt("nobody", "say hello")).rejects.toThrow();
    await expect(agent.agent.request("session/load", { sessionId: "nobody", cwd: "/", mcpServers: [] })).rejects.toThrow();
  });

  it("changes its mode and its title on its own", async () => {
    await turn("mode auto; title A better name");
    expect(agent.of("current_mode_update")).toMatchObject([{ currentModeId: "auto" }]);
    expect(agent.of("session_info_update")).toMatchObject([{ title: "A better name" }]);
  });

  it("ends when its input ends", async () => {
    await using agent = await startApart();
    agent.process.input.end();
    expect(await agent.process.exited).toBe(0);
  });
});

describe("permission requests", () => {
  it("a permission request is sent and allowed", async () => {
    await turn("ask rm -rf build");
    expect(agent.asked).toMatchObject([
      {
        toolCall: { title: "rm -rf build", kind: "execute" },
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
      },
    ]);
    expect(agent.of("tool_call")[0]).toMatchObject({ status: "pending", toolCallId: agent.asked[0]?.toolCall.toolCallId });
    expect(agent.of("tool_call_update")).toMatchObject([{ status: "completed" }]);
    expect(agent.text()).toBe("Allowed: rm -rf build");
  });

  it("the turn continues after a denied permission request", async () => {
    agent.answer = chosen("reject-once");
    const result = await turn("ask rm -rf build; say so be it");
    expect(agent.of("tool_call_update")).toMatchObject([{ status: "failed" }]);
    expect(agent.text()).toBe("Denied: rm -rf build\nso be it");
    expect(result.stopReason).toBe("end_turn");
  });

  it("a permission allowed always is requested once, and mode auto requests none", async () => {
    agent.answer = chosen("allow-always");
    await turn("ask npm test; ask npm test");
    expect(agent.asked).toHaveLength(1);
    agent.reset();
    await turn("mode auto; ask npm test; ask-first npm run");
    expect(agent.asked).toHaveLength(0);
    expect(agent.text()).toBe("Allowed: npm test\nAllowed: npm run");
  });

  it("a permission request may come before its call is shown, or without it", async () => {
    const sessionId = await agent.open();
    let shownBefore = -1;
    agent.answer = () => {
      shownBefore = agent.of("tool_call").length;
      return chosen("allow-once")();
    };
    await agent.prompt(sessionId, "ask-first npm test");
    expect([shownBefore, agent.of("tool_call").length]).toEqual([0, 1]);
    await agent.prompt(sessionId, "ask-only npm run");
    expect(agent.of("tool_call")).toHaveLength(1);
  });

  it("a command runs only if its permission request is allowed", async () => {
    await turn("tool shell echo hi");
    expect(agent.served.map(({ method }) => method)).toEqual(["create", "wait", "output", "release"]);
    agent.reset();
    agent.answer = chosen("reject-once");
    await turn("tool shell echo hi");
    expect(agent.served).toEqual([]);
    expect(agent.text()).toBe("The tool was denied");
  });

  it("a cancelled permission request ends the turn", async () => {
    agent.answer = () => ({ outcome: { outcome: "cancelled" } });
    const result = await turn("ask npm test; say never");
    expect(result.stopReason).toBe("cancelled");
  });
});

describe("files and commands", () => {
  it("files are read and written through the client, with a diff", async () => {
    agent.files.set("/project/notes.txt", "old\n");
    await turn("write notes.txt new words; read notes.txt");
    expect(agent.files.get("/project/notes.txt")).toBe("new words\n");
    expect(agent.of("tool_call_update")[0]?.content).toEqual([
      { type: "diff", path: "/project/notes.txt", oldText: "old\n", newText: "new words\n" },
    ]);
    expect(agent.text()).toContain("new words");
  });

  it("a part of a file can be requested", async () => {
    agent.files.set("/project/src/a.ts", "x");
    await turn("read src/a.ts 3 2");
    expect(agent.served).toMatchObject([{ method: "read", params: { path: "/project/src/a.ts", line: 3, limit: 2 } }]);
  });

  it("a file that the client refuses fails the tool, not the turn", async () => {
    const result = await turn("read /etc/shadow; say all the same");
    expect(agent.of("tool_call_update")).toMatchObject([{ status: "failed" }]);
    expect(agent.text()).toMatch(/^Read \/etc\/shadow failed: .+\nall the same$/s);
    expect(result.stopReason).toBe("end_turn");
  });

  it("a command runs in the client's terminal, which is released", async () => {
    agent.terminal = { output: "oh", exit: Promise.resolve({ exitCode: 3 }) };
    await turn("run exit 3");
    expect(agent.served[0]?.params).toMatchObject({ command: "sh", args: ["-c", "exit 3"], cwd: "/project" });
    expect(agent.of("tool_call_update")[0]?.content).toEqual([{ type: "terminal", terminalId: "t1" }]);
    expect(agent.text()).toBe("The tool answered: oh\n(ended with 3)");
    expect(agent.served.at(-1)?.method).toBe("release");
  });

  it("without client support the agent uses its own files and shell", async () => {
    await using agent = await start({ can: { fs: false, terminal: false } });
    const sessionId = await agent.open(home);
    writeFileSync(path.join(home, "a.txt"), "1\n2\n3\n4\n");
    await agent.prompt(sessionId, "read a.txt 2 2; write b.txt here; run cat b.txt; run exit 4");
    expect(agent.served).toEqual([]);
    expect(readFileSync(path.join(home, "b.txt"), "utf8")).toBe("here\n");
    expect(agent.text()).toBe("2\n3\nI wrote b.txt.\nThe tool answered: here\nThe tool answered: (ended with 4)");
  });

  it("a command can keep running in the background", async () => {
    const sessionId = await agent.open(home);
    await agent.prompt(sessionId, "background echo left > left.txt");
    await vi.waitFor(() => expect(readFileSync(path.join(home, "left.txt"), "utf8")).toBe("left\n"), PATIENCE);
  });
});

describe("conversations", () => {
  it("a conversation survives a killed process and is shown again when it is loaded", async () => {
    await using first = await startApart();
    const sessionId = await first.open();
    await first.prompt(sessionId, "remember blue; think hm; ask npm test");
    first.process.kill();
    await first.process.exited;

    await using second = await startApart();
    const state = await second.agent.request("session/load", { sessionId, cwd: "/project", mcpServers: [] });
    expect(state.modes?.currentModeId).toBe("ask");
    expect(second.text("user_message_chunk")).toBe("remember blue; think hm; ask npm test");
    expect(second.text("agent_thought_chunk")).toBe("hm");
    expect(second.of("tool_call")).toMatchObject([{ title: "npm test" }]);
    expect(second.text()).toBe("I will remember blue.\nAllowed: npm test");
    second.updates.length = 0;
    await second.prompt(sessionId, "remember red; recall");
    expect(second.text()).toContain("I remember: blue, red.");
  });

  it("a resumed conversation is not shown again", async () => {
    await using first = await startApart();
    const sessionId = await first.open();
    await first.prompt(sessionId, "remember blue");
    await using second = await startApart();
    await second.agent.request("session/resume", { sessionId, cwd: "/project", mcpServers: [] });
    expect(second.updates).toEqual([]);
    await second.prompt(sessionId, "recall");
    expect(second.text()).toBe("I remember: blue.");
  });

  it("a conversation of the terminal mode is shown by its answers", async () => {
    const memory = new Memory("from-the-terminal");
    memory.add({ prompt: "fix it" });
    memory.add({ said: "It is fixed." });
    await agent.agent.request("session/load", { sessionId: "from-the-terminal", cwd: "/project", mcpServers: [] });
    expect([agent.text("user_message_chunk"), agent.text()]).toEqual(["fix it", "It is fixed."]);
  });

  it("the history may arrive after the conversation was loaded", async () => {
    await using first = await start();
    const sessionId = await first.open();
    await first.prompt(sessionId, "say early");
    await using second = await start({ args: ["--fast", "--late-history"] });
    await second.agent.request("session/load", { sessionId, cwd: "/project", mcpServers: [] });
    expect(second.updates).toEqual([]);
    await vi.waitFor(() => expect(second.text()).toBe("early"), PATIENCE);
  });

  it("conversations are separate, and are listed after their first turn", async () => {
    const [one, two] = [await agent.open("/one"), await agent.open("/two")];
    await agent.open("/three");
    await agent.prompt(one, "remember blue");
    await agent.prompt(two, "recall");
    expect(agent.text()).toContain("I remember nothing.");
    const { sessions } = await agent.agent.request("session/list", {});
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining([one, two]));
    expect(sessions.map(({ cwd }) => cwd)).not.toContain("/three");
    expect((await agent.agent.request("session/list", { cwd: "/one" })).sessions).toMatchObject([
      { sessionId: one, cwd: "/one", title: "remember blue" },
    ]);
  });

  it("a conversation accepts one prompt at a time", async () => {
    const sessionId = await agent.open();
    const { ended } = await underWay(sessionId, "sleep 60000");
    await expect(agent.prompt(sessionId, "say hello")).rejects.toThrow(/a turn is under way/);
    await agent.agent.notify("session/cancel", { sessionId });
    expect((await ended).stopReason).toBe("cancelled");
  });

  it("closing a conversation ends its turn", async () => {
    const sessionId = await agent.open();
    const { ended } = await underWay(sessionId, "sleep 60000");
    await agent.agent.request("session/close", { sessionId });
    expect((await ended).stopReason).toBe("cancelled");
    await expect(agent.prompt(sessionId, "say hello")).rejects.toThrow();
  });
});

describe("usage of a turn", () => {
  it("usage is reported as the script says", async () => {
    const result = await turn("say hello; usage 1200 340 800 64; cost 0.25");
    expect(result.usage).toEqual({ inputTokens: 1200, outputTokens: 340, cachedReadTokens: 800, cachedWriteTokens: 64, totalTokens: 2404 });
    expect(agent.of("usage_update")).toMatchObject([{ size: 200_000, cost: { amount: 0.25, currency: "USD" } }]);
  });

  it("usage is counted by default, and grows with the conversation", async () => {
    const sessionId = await agent.open();
    const first = await agent.prompt(sessionId, "say hello there");
    const second = await agent.prompt(sessionId, "say hello there");
    expect(first.usage).toEqual({ inputTokens: 4, outputTokens: 3, totalTokens: 7 });
    expect(second.usage).toEqual({ inputTokens: 11, outputTokens: 3, totalTokens: 14 });
    expect(agent.of("usage_update").map(({ used }) => used)).toEqual([7, 14]);
  });

  it("usage may be reported after the reply", async () => {
    await agent.prompt(await agent.open(), "usage-late");
    expect(agent.of("usage_update")).toEqual([]);
    await vi.waitFor(() => expect(agent.of("usage_update")).toHaveLength(1), PATIENCE);
  });
});

describe("turns", () => {
  it("a turn can be cancelled during a permission request, without an answer", async () => {
    const sessionId = await agent.open();
    agent.answer = () => new Promise(() => {});
    const prompt = agent.prompt(sessionId, "ask npm test");
    await vi.waitFor(() => expect(agent.asked).toHaveLength(1), PATIENCE);
    await agent.agent.notify("session/cancel", { sessionId });
    expect((await prompt).stopReason).toBe("cancelled");
    await agent.prompt(sessionId, "say and on we go");
    expect(agent.text()).toBe("and on we go");
  });

  it("cancelling a turn ends its command", async () => {
    const sessionId = await agent.open();
    agent.terminal = { output: "", exit: new Promise(() => {}) };
    const prompt = agent.prompt(sessionId, "run sleep 1000");
    await vi.waitFor(() => expect(agent.served.map(({ method }) => method)).toContain("wait"), PATIENCE);
    await agent.agent.notify("session/cancel", { sessionId });
    expect((await prompt).stopReason).toBe("cancelled");
    expect(agent.served.slice(-2).map(({ method }) => method)).toEqual(["kill", "release"]);
    expect(agent.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  });

  it("a turn can be cancelled in the middle of a stream", async () => {
    const sessionId = await agent.open();
    const prompt = agent.prompt(sessionId, "stream 1000000");
    await vi.waitFor(() => expect(agent.updates.length).toBeGreaterThan(10), PATIENCE);
    await agent.agent.notify("session/cancel", { sessionId });
    expect((await prompt).stopReason).toBe("cancelled");
  });

  it("a turn fails as scripted, and the next one succeeds", async () => {
    const sessionId = await agent.open();
    await expect(agent.prompt(sessionId, "fail no credit left")).rejects.toThrow(/no credit left/);
    expect((await agent.prompt(sessionId, "stop refusal")).stopReason).toBe("refusal");
    expect((await agent.prompt(sessionId, "stop max_tokens")).stopReason).toBe("max_tokens");
  });

  it("a hung turn ignores cancellation, while other conversations continue", async () => {
    await using agent = await start();
    const sessionId = await agent.open();
    let ended = false;
    void agent
      .prompt(sessionId, "hang")
      .catch(() => {})
      .finally(() => {
        ended = true;
      });
    await agent.agent.notify("session/cancel", { sessionId });
    await agent.prompt(await agent.open(), "say still here");
    expect(agent.text()).toBe("still here");
    expect(ended).toBe(false);
  });

  it("a turn may end the process", async () => {
    await using agent = await startApart();
    const prompt = agent.prompt(await agent.open(), "say so far; crash 7");
    await expect(prompt).rejects.toThrow();
    expect(await agent.process.exited).toBe(7);
    expect(agent.text()).toBe("so far");
  });

  it("a crash without a code ends the process with 1", async () => {
    await using agent = await start();
    const prompt = agent.prompt(await agent.open(), "background true; crash");
    await expect(prompt).rejects.toThrow();
    expect(await agent.process.exited).toBe(1);
  });

  it("a line that is not JSON does not damage the other lines", async () => {
    await using agent = await start();
    await agent.prompt(await agent.open(), "say before; garbage; say after").catch(() => {});
    expect(agent.text()).toContain("before");
  });
});
