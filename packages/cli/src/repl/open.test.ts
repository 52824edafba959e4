import { describe, expect, test } from "vitest";
import { ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { openConversation } from "./open.ts";

describe("an existing conversation", () => {
  test("is continued", async () => {
    const daemon = new ScriptedDaemon();
    const session = daemon.session("fix");
    expect(await openConversation(daemon.context(), { existing: "fix" })).toMatchObject({ session, created: false, started: false });
    expect(await openConversation(daemon.context(), { name: session.id, agent: "demo" })).toMatchObject({ session, created: false });
    expect(daemon.asked("resumeSession")).toEqual([]);
  });

  test("is resumed if it has ended, with the requested model and mode", async () => {
    const daemon = new ScriptedDaemon();
    const session = daemon.session("fix", { endedAt: "x", status: "done" });
    expect(await openConversation(daemon.context(), { existing: "fix", model: "large", mode: "auto" })).toMatchObject({ started: true });
    expect(session.runs).toBe(2);
    expect(daemon.asked("setConversation")[0]?.body).toEqual({ model: "large", mode: "auto" });
  });

  test("is refused if the agent or persona differs, and so is a terminal", async () => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix");
    daemon.session("shell", { kind: "shell" });
    await expect(openConversation(daemon.context(), { name: "fix", agent: "claude" })).rejects.toMatchObject({ code: "name_taken" });
    await expect(openConversation(daemon.context(), { existing: "shell" })).rejects.toMatchObject({
      code: "not_a_conversation",
      hint: "attach to it: holdfast attach shell",
    });
    daemon.session("demo", { kind: "terminal" });
    await expect(openConversation(daemon.context(), { existing: "demo" })).rejects.toMatchObject({
      hint: "attach to it: holdfast attach demo; start a conversation with the agent demo: holdfast chat --agent demo",
    });
    daemon.session("reviewed", { role: "reviewer" });
    await expect(openConversation(daemon.context(), { name: "fix", persona: "reviewer" })).rejects.toMatchObject({
      code: "name_taken",
      message: "fix exists and was not started with persona reviewer",
    });
    expect(await openConversation(daemon.context(), { name: "reviewed", persona: "reviewer" })).toMatchObject({ created: false });
    daemon.fail("getConversation", new Error("other"));
    await expect(openConversation(daemon.context(), { existing: "fix" })).rejects.toThrow("other");
    daemon.fail("getConversation", new Error("other"));
    await expect(openConversation(daemon.context(), { name: "fix" })).rejects.toThrow("other");
  });
});

describe("options for an existing conversation (mend 16)", () => {
  test.each(["cwd", "worktree", "base", "workspace", "role", "objective"])("--%s is refused with a hint", async (flag) => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix", { endedAt: "x", status: "done" });
    await expect(openConversation(daemon.context({ words: { [flag]: "x" } }), { existing: "fix" })).rejects.toMatchObject({
      code: "usage",
      message: `--${flag} cannot be changed for an existing session (fix)`,
      hint: `omit it, or start a new conversation: holdfast chat demo --${flag} …`,
    });
    expect(daemon.asked("resumeSession")).toEqual([]);
    // Switching to another conversation inside the chat ignores these options.
    await openConversation(daemon.context({ words: { [flag]: "x" } }), { existing: "fix", asItIs: true });
  });

  test("arguments after -- are refused", async () => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix");
    await expect(openConversation(daemon.context(), { existing: "fix", args: ["--fast"] })).rejects.toMatchObject({
      message: "arguments after -- cannot be changed for an existing session (fix)",
    });
  });

  test("--budget and --env are applied", async () => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix", { endedAt: "x", status: "done" });
    daemon.session("live");
    const context = (more: object) => daemon.context({ words: { budget: "cost=2" }, ...more });
    await openConversation(context({ env: ["KEY=new"] }), { existing: "fix" });
    expect(daemon.asked("resumeSession")[0]?.body).toEqual({ env: { KEY: "new" }, budget: { cost: 2 } });
    await openConversation(context({}), { existing: "live" });
    expect(daemon.asked("setBudget")[0]?.body).toEqual({ cost: 2 });
    const opened = await openConversation(context({ env: ["KEY=new"] }), { existing: "live" });
    expect(opened).toMatchObject({ started: false, notes: ["its agent was restarted with KEY"] });
    expect(daemon.asked("stopSession")).toHaveLength(1);
    expect(daemon.asked("resumeSession")[1]?.body).toEqual({ env: { KEY: "new" }, budget: { cost: 2 } });
  });
});

describe("a new conversation", () => {
  test("has the requested name, agent, model and directory", async () => {
    const daemon = new ScriptedDaemon();
    const context = daemon.context({ words: { cwd: "/tmp" } });
    const opened = await openConversation(context, { name: "review", agent: "demo", model: "large", mode: "auto" });
    expect(opened).toMatchObject({ created: true, started: true, session: { name: "review" } });
    expect(daemon.asked("spawn")[0]?.body).toMatchObject({
      agent: "demo",
      name: "review",
      chat: true,
      model: "large",
      mode: "auto",
      cwd: "/tmp",
    });
  });

  test("uses the only agent besides the demo, and otherwise needs an agent", async () => {
    const daemon = new ScriptedDaemon();
    await expect(openConversation(daemon.context(), {})).rejects.toMatchObject({ code: "usage", candidates: ["demo"] });
    daemon.agents.push({ name: "claude", structured: "/bin/claude" }, { name: "aider", structured: null });
    await openConversation(daemon.context(), {});
    expect(daemon.asked("spawn")[0]?.body).toMatchObject({ agent: "claude" });
    daemon.agents.push({ name: "qwen", structured: "/bin/qwen" });
    await expect(openConversation(daemon.context(), {})).rejects.toMatchObject({ candidates: ["demo", "claude", "qwen"] });
  });

  test("is started by an agent's name if no conversation has that name", async () => {
    const daemon = new ScriptedDaemon();
    expect(await openConversation(daemon.context(), { existing: "demo", orAgent: true })).toMatchObject({ created: true });
    expect(daemon.asked("spawn")[0]?.body).toMatchObject({ agent: "demo", name: undefined });
    daemon.session("demo");
    expect(await openConversation(daemon.context(), { existing: "demo", orAgent: true })).toMatchObject({ created: false });
  });

  test("with a persona uses the named agent, or takes the name if there is no such agent", async () => {
    const daemon = new ScriptedDaemon();
    await openConversation(daemon.context(), { name: "demo", persona: "reviewer", orAgent: true });
    await openConversation(daemon.context(), { name: "fix", persona: "reviewer", orAgent: true });
    await openConversation(daemon.context(), { name: "demo", persona: "reviewer" });
    expect(daemon.asked("spawn").map(({ body }) => body)).toMatchObject([
      { agent: "demo", name: undefined, persona: "reviewer" },
      { agent: "", name: "fix", persona: "reviewer" },
      { agent: "", name: "demo", persona: "reviewer" },
    ]);
  });

  test("is not started by an unknown name, which may be a typing error", async () => {
    const daemon = new ScriptedDaemon();
    await expect(openConversation(daemon.context(), { existing: "nowhere", orAgent: true })).rejects.toMatchObject({
      code: "session_not_found",
      hint: "start one: holdfast chat --session nowhere --agent AGENT",
      candidates: ["near"],
    });
    await expect(openConversation(daemon.context(), { name: "nowhere" })).rejects.toMatchObject({ code: "session_not_found" });
    await expect(openConversation(daemon.context(), { existing: "demo" })).rejects.toMatchObject({
      hint: "start one with this agent: holdfast chat demo",
    });
    daemon.fail("listAgents", new Error("no"));
    await expect(openConversation(daemon.context(), { existing: "demo", orAgent: true })).rejects.toMatchObject({
      hint: "start one: holdfast chat --session demo --agent AGENT",
    });
  });
});
