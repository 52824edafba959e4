import { PassThrough } from "node:stream";
import { HoldfastError } from "@holdfast/contract/errors";
import type { EntryDraft } from "@holdfast/contract/transcript";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openEmulator, parseNow } from "../render/emulator.ts";
import { talk } from "./repl.ts";
import { ME, ScriptedDaemon } from "./scripted-daemon.ts";

vi.mock("@holdfast/platform/user", () => ({ userName: () => "tester" }));

let cleanUp: (() => void)[] = [];

afterEach(() => {
  for (const act of cleanUp) act();
  cleanUp = [];
});

/** Somebody at a terminal: what they type, and what they see. */
function sit(options: { wanted?: object; daemon?: ScriptedDaemon; first?: string; columns?: number; rows?: number } = {}) {
  const daemon = options.daemon ?? new ScriptedDaemon();
  const emulator = openEmulator({ columns: options.columns ?? 70, rows: options.rows ?? 24, scrollback: 1000 });
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => raw.push(on) });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: emulator.cols, rows: emulator.rows });
  output.on("data", (chunk: Buffer) => parseNow(emulator, chunk.toString()));
  const left = talk(daemon.context(), options.wanted ?? { agent: "demo" }, options.first, { input, output } as never);
  left.catch(() => {});
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

test("the prompt is there at once, and what is typed meanwhile waits for the conversation", async () => {
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

test("what was said before is there, and what others say comes as it is said", async () => {
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

test("what is said while the agent works is shown as waiting, until it is its turn", async () => {
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
  test("cancels the turn and keeps what came; a second one leaves, and says what becomes of it", async () => {
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

  test("empties the line first, then says how to leave", async () => {
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

  test("takes back what no turn has begun with", async () => {
    const { daemon, type, shows } = sit();
    await shows("fresh:");
    daemon.takes = false;
    type("too early\r");
    await shows("queued");
    type("\x03");
    await shows("withdrawn");
    expect(daemon.messages[0]?.state).toBe("cancelled");
  });

  test("a signal does the same; SIGTERM leaves", async () => {
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
  ] as const)("one that is %s", async (status, endedAt, told) => {
    const daemon = new ScriptedDaemon();
    daemon.session("fix", { status, endedAt });
    const { shows, type, left } = sit({ daemon, wanted: { existing: "fix" }, columns: 90 });
    await shows("fix:");
    type("\x04");
    expect(await left).toBe(0);
    await shows(told);
  });

  test("one that has ended says how to go on with it, also if nothing can be asked any more", async () => {
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

  test("a new one in which nothing was said leaves nothing behind", async () => {
    const { daemon, shows, type, left } = sit();
    await shows("fresh:");
    type("\x04");
    await left;
    expect(daemon.asked("stopSession").length).toBe(1);
    expect(daemon.asked("removeSession").length).toBe(1);
  });

  test("without a daemon nothing is said of it", async () => {
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

test("what cannot be opened is told once the terminal is as it was", async () => {
  const daemon = new ScriptedDaemon();
  const { left, raw } = sit({ daemon, wanted: { existing: "nowhere" } });
  await expect(left).rejects.toMatchObject({ code: "session_not_found" });
  expect(raw).toEqual([true, false]);
});

test("a daemon that dies is found again, and nothing is missed or shown twice", async () => {
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

test("one that is gone for good ends it, with the reason", async () => {
  const { daemon, shows, left } = sit();
  await shows("fresh:");
  daemon.fail("followTranscript", new HoldfastError("daemon_ended", "the daemon has been ended"));
  daemon.die();
  await expect(left).rejects.toThrow("the daemon has been ended");
});

describe("what is asked for", () => {
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
  ])("%s answers it", async (key, body) => {
    const { daemon, type, shows } = await asked();
    vi.setSystemTime(Date.now() + 1000);
    type(key);
    await vi.waitFor(() => expect(daemon.asked("answerApproval")).toEqual([{ params: { id: "ab" }, body: { ...body, digest: "d" } }]));
    daemon.write({ type: "approval_answered", ask: "a1", option: "1", allowed: true, by: ME as never });
    await shows("allowed: execute");
  });

  test("a key that was meant for the text answers nothing: neither at once nor within a line", async () => {
    const { daemon, type, shows } = await asked();
    type("yes, ");
    await shows("› yes,");
    vi.setSystemTime(Date.now() + 1000);
    type("nay");
    await shows("› yes, nay");
    expect(daemon.asked("answerApproval")).toEqual([]);
  });

  test("always is not offered where the agent does not offer it", async () => {
    const { daemon, type, shows, screen } = await asked({ options: [] });
    expect(screen()).not.toContain("a always");
    vi.setSystemTime(Date.now() + 1000);
    type("a");
    await shows("› a");
    expect(daemon.asked("answerApproval")).toEqual([]);
  });
});

test("commands do what they say; what the agent has of its own, and what begins with two slashes, is said", async () => {
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

test("what could not be said is told, and stands in the line again", async () => {
  const { daemon, type, shows } = sit();
  await shows("fresh:");
  daemon.fail("sendMessage", new HoldfastError("input_full", "there is no room\nfor more", { hint: "wait" }));
  type("important words\r");
  await shows(/✗ there is no room\n {2}for more\n {2}wait\n\n.*\n› important words/);
});

test("words that a used-up budget refused do not stay in the line; the Up key brings them back (mend 15)", async () => {
  const { daemon, type, shows, screen } = sit();
  await shows("fresh:");
  daemon.fail("sendMessage", new HoldfastError("budget_spent", "fresh has used up its budget"));
  type("refused words\r");
  await shows("not sent: refused words");
  expect(screen()).not.toMatch(/^› refused words/m);
  // Words that waited fail with their message.
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

test("/sessions NAME goes to another conversation; where there is none, it stays", async () => {
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

test("Ctrl+O unfolds, Ctrl+L draws anew, Tab completes", async () => {
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

test("a terminal that becomes narrow keeps every word", async () => {
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

test("what this process says on standard error stands above the prompt, and not across it", async () => {
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

test("Ctrl+Z gives the terminal back, and what comes meanwhile is there afterwards", async () => {
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
