import { PassThrough } from "node:stream";
import type { EntryDraft } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ME, ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { openEmulator, parseNow } from "../render/emulator.ts";
import { talk } from "./repl.ts";

vi.mock("@holdfast/platform/user", () => ({ userName: () => "tester" }));

let cleanUp: (() => void)[] = [];

afterEach(() => {
  for (const act of cleanUp) act();
  cleanUp = [];
});

/** A person at a terminal: types, and sees the screen. */
function sit(options: { wanted?: object; daemon?: ScriptedDaemon; first?: string; columns?: number; rows?: number } = {}) {
  const daemon = options.daemon ?? new ScriptedDaemon();
  const emulator = openEmulator({ columns: options.columns ?? 70, rows: options.rows ?? 24, scrollback: 1000 });
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => raw.push(on) });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: emulator.cols, rows: emulator.rows });
  output.on("data", (chunk: Buffer) => parseNow(emulator, chunk.toString()));
  const left = talk(daemon.context(), options.wanted ?? { agent: "demo" }, { input, output } as never);
  left.catch(() => {});
  if (options.first !== undefined) input.write(`${options.first}\r`);
  const screen = () => {
    const { active } = emulator.buffer;
    return Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? "")
      .join("\n")
      .trimEnd();
  };
  const shows = async (text: string | RegExp) => {
    for (let i = 0; ; i++) {
      if (typeof text === "string" ? screen().includes(text) : text.test(screen())) return screen();
      if (i > 4000) throw new Error(`the screen never showed ${text}; it shows:\n${screen()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const type = (keys: string) => void input.write(keys);
  cleanUp.push(() => type("\x05\x15\x04"));
  const resize = (columns: number) => {
    output.columns = columns;
    emulator.resize(columns, output.rows);
    output.emit("resize");
  };
  return { daemon, type, shows, screen, left, raw, input, resize };
}

const text = (said: string): EntryDraft => ({ type: "text", text: said });
const ended = (reason = "completed") => ({ type: "turn_ended", reason }) as EntryDraft;
const user = (said: string, from = ME) =>
  ({ type: "user", message: "m", from, text: said, addition: null, steer: false }) as unknown as EntryDraft;

test("the prompt appears at once, and a message typed meanwhile waits for the conversation", async () => {
  const { screen, type, shows, daemon } = sit();
  expect(screen()).toContain("›");
  expect(screen()).toContain("connecting …");
  type("hello\r");
  await shows("fresh: demo in /");
  await shows(/^› hello$/m);
  await shows("working");
  daemon.write(text("Hi **there**"), daemon.messages[0]?.id);
  await shows("Hi there");
  daemon.write(ended(), daemon.messages[0]?.id);
  await shows("fresh · 1 turn · ? tokens · $? · context ? · ask · small");
});

test("earlier messages are shown, and messages of others appear as they are sent", async () => {
  const daemon = new ScriptedDaemon();
  daemon.session("fix");
  daemon.write(user("earlier words"));
  daemon.write(text("earlier answer"));
  daemon.write(ended());
  const { shows } = sit({ daemon, wanted: { existing: "fix" } });
  await shows(/› earlier words\nearlier answer/);
  daemon.write(user("from elsewhere", "user:alice"));
  await shows("alice › from elsewhere");
  await shows("with alice");
});

test("messages sent while the agent works are shown as queued until their turn", async () => {
  const { daemon, type, shows, screen } = sit();
  await shows("fresh:");
  daemon.takes = false;
  type("first\rsecond\r");
  await shows("… queued, the agent works: first");
  await shows("… queued, the agent works: second");
  for (const { id, text: said } of daemon.messages) {
    daemon.write({ type: "user", message: id, from: ME as never, text: said, addition: null, steer: false }, id);
  }
  await shows(/› first\n\n› second/);
  expect(screen()).not.toContain("queued");
});

describe("Ctrl+C", () => {
  test("cancels the turn and keeps its output; the second one leaves and says that the session keeps working", async () => {
    const { daemon, type, shows, left, raw } = sit();
    type("go\r");
    await shows("working");
    daemon.write(text("half an answer"), daemon.messages[0]?.id);
    await shows("half an answer");
    type("\x03");
    await shows("cancelling …");
    expect(daemon.asked("cancelTurn").length).toBe(1);
    daemon.write(ended("cancelled"), daemon.messages[0]?.id);
    await shows(/half an answer\n■ cancelled/);
    daemon.change(daemon.sessions[0] as never, { status: "working" });
    type("\x03");
    expect(await left).toBe(0);
    await shows("fresh keeps working in the background. Continue: holdfast chat fresh");
    expect(raw).toEqual([true, false]);
  });

  test("clears the line first, then shows how to leave", async () => {
    const { type, shows, screen, left } = sit();
    await shows("fresh:");
    type("some words");
    await shows("› some words");
    type("\x03");
    await shows(/^› ?$/m);
    type("\x03");
    await shows("press Ctrl+C again, or Ctrl+D, to leave");
    type("x");
    await shows("› x");
    expect(screen()).not.toContain("Ctrl+C again");
    type("\x7f\x03");
    await shows("Ctrl+C again");
    type("\x03");
    expect(await left).toBe(0);
  });

  test("withdraws a message that no turn has started with", async () => {
    const { daemon, type, shows } = sit();
    await shows("fresh:");
    daemon.takes = false;
    type("too early\r");
    await shows("queued");
    type("\x03");
    await shows("withdrawn");
    expect(daemon.messages[0]?.state).toBe("cancelled");
  });

  test("SIGINT acts like Ctrl+C, and SIGTERM leaves", async () => {
    const { shows, left } = sit();
    await shows("fresh:");
    process.emit("SIGINT", "SIGINT");
    await shows("press Ctrl+C again, or Ctrl+D, to leave");
    process.emit("SIGTERM", "SIGTERM");
    expect(await left).toBe(0);
  });
});

describe("leaving", () => {
  test.each([
    ["idle", null, "fix keeps running. Continue: holdfast chat fix   Stop: holdfast stop fix"],
    ["waiting", null, "fix is waiting for you: holdfast approvals. Continue: holdfast chat fix"],
    ["working", null, "fix keeps working in the background. Continue: holdfast chat fix"],
  ] as const)("an agent that is %s", async (status, endedAt, told) => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix", { status, endedAt });
    const { shows, type, left } = sit({ daemon, wanted: { existing: "fix" }, columns: 90 });
    await shows("fix:");
    type("\x04");
    expect(await left).toBe(0);
    await shows(told);
  });

  test("an ended agent shows how to continue", async () => {
    const daemon = new ScriptedDaemon();
    const session = daemon.session("fix");
    const { shows, type, left } = sit({ daemon, wanted: { existing: "fix" } });
    await shows("fix:");
    daemon.change(session, { status: "done", endedAt: "x" });
    await shows("■ the agent has ended (done); your next message restarts it");
    type("/exit\r");
    expect(await left).toBe(0);
    await shows("fix has ended (done). Continue: holdfast chat fix");
  });

  test("a new conversation without a chosen name and without a message is removed", async () => {
    const { daemon, shows, type, left } = sit();
    await shows("fresh:");
    type("\x04");
    await left;
    expect(daemon.asked("stopSession").length).toBe(1);
    expect(daemon.asked("removeSession").length).toBe(1);
  });

  test("a new conversation with a chosen name stays, also without a message", async () => {
    const { daemon, shows, type, left } = sit({ wanted: { name: "review", agent: "demo" } });
    await shows("review:");
    type("\x04");
    expect(await left).toBe(0);
    expect(daemon.asked("removeSession").length).toBe(0);
    await shows("Continue: holdfast chat review");
  });

  test("without a daemon shows no hint", async () => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix");
    const { shows, type, left, screen } = sit({ daemon, wanted: { existing: "fix" } });
    await shows("fix:");
    daemon.fail("getSession", new HoldfastError("daemon_unreachable", "gone"));
    type("\x04");
    expect(await left).toBe(0);
    expect(screen()).not.toContain("Continue: ");
  });
});

test("a conversation that cannot be opened is reported after the terminal is restored", async () => {
  const daemon = new ScriptedDaemon();
  const { left, raw } = sit({ daemon, wanted: { existing: "nowhere" } });
  await expect(left).rejects.toMatchObject({ code: "session_not_found" });
  expect(raw).toEqual([true, false]);
});

test("the chat reconnects after a daemon dies, and nothing is missing or shown twice", async () => {
  const { daemon, shows, screen } = sit({ first: "go" });
  await shows("working");
  daemon.write(text("one\n"), daemon.messages[0]?.id);
  await shows("one");
  daemon.fail("followTranscript", new HoldfastError("daemon_unreachable", "gone"), new HoldfastError("daemon_unreachable", "gone"));
  daemon.die();
  await shows("lost the daemon");
  daemon.write(text("two\n"), daemon.messages[0]?.id);
  await shows("two");
  expect(screen().match(/^one$/gm)?.length).toBe(1);
  expect(screen()).not.toContain("lost the daemon");
});

test("a daemon that has been ended ends the chat with the reason", async () => {
  const { daemon, shows, left } = sit();
  await shows("fresh:");
  daemon.fail("followTranscript", new HoldfastError("daemon_ended", "the daemon has been ended"));
  daemon.die();
  await expect(left).rejects.toThrow("the daemon has been ended");
});

describe("permission requests", () => {
  const ask: EntryDraft = {
    type: "approval_asked",
    ask: "a1",
    call: null,
    title: "Run make",
    kind: "execute",
    input: { command: "make" },
    options: [{ id: "1", name: "x", kind: "allow_always" }],
  };

  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  async function asked(more: Partial<typeof ask> = {}) {
    const seat = sit({ first: "go" });
    await seat.shows("working");
    seat.daemon.approvals = [{ id: "ab", ask: "a1", digest: "d", text: "execute: make" } as never];
    seat.daemon.write({ ...ask, ...more } as EntryDraft, seat.daemon.messages[0]?.id);
    await seat.shows("? y allow · n deny");
    return seat;
  }

  test.each([
    ["y", { decision: "allow" }],
    ["n", { decision: "deny" }],
    ["a", { decision: "allow", always: true }],
  ])("%s answers a permission request", async (key, body) => {
    const { daemon, type, shows } = await asked();
    vi.setSystemTime(Date.now() + 1000);
    type(key);
    await vi.waitFor(() => expect(daemon.asked("answerApproval")).toEqual([{ params: { id: "ab" }, body: { ...body, digest: "d" } }]));
    daemon.write({ type: "approval_answered", ask: "a1", option: "1", allowed: true, by: ME as never });
    await shows("allowed: execute");
  });

  test("a key typed as text answers nothing, neither at once nor within a line", async () => {
    const { daemon, type, shows } = await asked();
    type("yes, ");
    await shows("› yes,");
    vi.setSystemTime(Date.now() + 1000);
    type("nay");
    await shows("› yes, nay");
    expect(daemon.asked("answerApproval")).toEqual([]);
  });

  test("always is offered only if the agent offers it", async () => {
    const { daemon, type, shows, screen } = await asked({ options: [] });
    expect(screen()).not.toContain("a always");
    vi.setSystemTime(Date.now() + 1000);
    type("a");
    await shows("› a");
    expect(daemon.asked("answerApproval")).toEqual([]);
  });
});

test("slash commands are run; the agent's own commands, and text after two slashes, are sent", async () => {
  const { daemon, type, shows } = sit();
  await shows("fresh · 0 turns");
  type("/nothing\r");
  await shows("✗ there is no command /nothing");
  type("/history\r");
  await shows("── so far ──");
  type("/compact\r");
  await shows(/^› \/compact$/m);
  type("//etc/passwd\r");
  await vi.waitFor(() => expect(daemon.messages.map(({ text: said }) => said)).toEqual(["/compact", "/etc/passwd"]));
  type("\r  \r");
  expect(daemon.messages.length).toBe(2);
});

test("a message that could not be sent is reported and returns to the line", async () => {
  const { daemon, type, shows } = sit();
  await shows("fresh:");
  daemon.fail("sendMessage", new HoldfastError("input_full", "there is no room\nfor more", { hint: "wait" }));
  type("important words\r");
  await shows(/✗ there is no room\n {2}for more\n {2}wait\n\n.*\n› important words/);
});

test("messages that an exceeded budget refused do not stay in the line, and the Up key recalls them (mend 15)", async () => {
  const { daemon, type, shows, screen } = sit();
  await shows("fresh:");
  daemon.fail("sendMessage", new HoldfastError("budget_spent", "fresh has used up its budget"));
  type("refused words\r");
  await shows("not sent: refused words");
  expect(screen()).not.toMatch(/^› refused words/m);
  // A message that is already queued fails when its state is read.
  daemon.takes = false;
  type("later words\r");
  await shows("queued, the agent works: later words");
  const exceeded = { limit: "cost", used: 2, allowed: 1, at: new Date(0).toISOString() };
  daemon.change(daemon.sessions[0] as never, { budget: { limits: [], exceeded } } as never);
  Object.assign(daemon.messages[0] as object, { state: "failed", why: "its budget is used up" });
  await shows("not sent: later words");
  expect(screen()).not.toMatch(/^› later words/m);
  type("\x1b[A");
  await shows(/^› later words/m);
});

test("/sessions NAME switches to another conversation, and stays if there is none", async () => {
  const daemon = new ScriptedDaemon();
  daemon.session("one");
  daemon.session("two");
  const { type, shows } = sit({ daemon, wanted: { existing: "one" } });
  await shows("one:");
  type("/sessions two\r");
  await shows("two: demo");
  type("/sessions three\r");
  await shows('✗ there is no conversation "three"');
  await shows(/two: demo[\s\S]*two: demo/);
  await shows("two · 0 turns");
});

test("Ctrl+O expands a tool, Ctrl+L redraws, Tab completes", async () => {
  const { daemon, type, shows, screen } = sit({ first: "go" });
  await shows("working");
  type("\x0f");
  await shows("no tool output to expand yet");
  const turn = daemon.messages[0]?.id ?? null;
  daemon.write({ type: "tool_started", call: "c", title: "ls", kind: "execute", input: { command: "ls -la" }, files: [] }, turn);
  await shows("[1] ls");
  daemon.write({ type: "tool_completed", call: "c", ok: true }, turn);
  await shows("✓ [1] ls");
  type("\x0f");
  await shows("command: ls -la");
  type("\x0c");
  await shows("command: ls -la");
  type("/hel\t");
  await shows("› /help");
  expect(screen()).toContain("working");
});

test("a narrow terminal keeps every word", async () => {
  const { daemon, shows, resize, screen } = sit({ first: "go" });
  await shows("working");
  daemon.write(text("these are words that take more than one row on a narrow terminal"), daemon.messages[0]?.id);
  await shows("narrow terminal");
  resize(20);
  await shows(/these are words that\ntake more than one\nrow on a narrow\nterminal/);
  resize(70);
  await shows("these are words that take more than one row on a narrow terminal");
  expect(screen().match(/these are/g)?.length).toBe(1);
});

test("output on standard error is shown above the prompt", async () => {
  const { shows, type, left } = sit();
  const stray = process.stderr.write;
  await shows("fresh:");
  process.stderr.write("holdfast: the daemon has not answered for 5 s\n");
  process.stderr.write(new TextEncoder().encode("in bytes\n"));
  await shows(/^holdfast: the daemon has not answered for 5 s\nin bytes\n\nfresh · 0 turns .*\n› ?$/m);
  type("\x04");
  await left;
  expect(process.stderr.write).not.toBe(stray);
});

test("Ctrl+Z suspends the chat, and output that arrives meanwhile is shown afterwards", async () => {
  const kill = vi.spyOn(process, "kill").mockImplementation(() => true);
  cleanUp.push(() => kill.mockRestore());
  const { type, shows, raw, daemon } = sit({ first: "go" });
  await shows("working");
  type("\x1a");
  await vi.waitFor(() => expect(raw).toEqual([true, false]));
  daemon.write(text("meanwhile\n"), daemon.messages[0]?.id);
  process.emit("SIGCONT", "SIGCONT");
  await shows("meanwhile");
  expect(raw).toEqual([true, false, true]);
  expect(kill).toHaveBeenCalledWith(process.pid, "SIGTSTP");
});
