import type { EntryDraft } from "@holdfast/contract/conversation/transcript";
import type { HoldfastError } from "@holdfast/contract/errors";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { answerOnce } from "./once.ts";

let out = "";
let err = "";

beforeEach(() => {
  out = "";
  err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  setTerminal(undefined);
});

function setTerminal(isTTY: true | undefined): void {
  for (const stream of [process.stdout, process.stderr]) Object.defineProperty(stream, "isTTY", { value: isTTY, configurable: true });
}

const text = (said: string): EntryDraft => ({ type: "text", text: said });
const ended = (reason: string) => ({ type: "turn_ended", reason }) as EntryDraft;

/** Runs one turn in which the agent writes these entries. */
async function once(
  drafts: EntryDraft[],
  options: { json?: boolean; ended?: boolean; wanted?: object; during?(daemon: ScriptedDaemon): void } = {},
) {
  const daemon = new ScriptedDaemon();
  if (options.wanted === undefined) daemon.session("fix", options.ended ? { endedAt: "x", status: "done" } : {});
  const answered = answerOnce(daemon.context({ json: options.json ?? false }), options.wanted ?? { existing: "fix" }, "do it").then(
    (code) => ({ code, error: undefined }),
    (error: HoldfastError) => ({ code: error.exitCode, error }),
  );
  while (daemon.messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const id = daemon.messages[0]?.id ?? "";
  options.during?.(daemon);
  for (const draft of drafts) daemon.write(draft, id);
  return { ...(await answered), daemon };
}

test("standard output contains only the answer", async () => {
  const { code, daemon } = await once([text("Hello, "), text("**you**."), ended("completed")]);
  expect({ code, out, err }).toEqual({ code: 0, out: "Hello, **you**.\n", err: "" });
  expect(daemon.asked("stopSession")).toEqual([]);
});

test("a note about the budget does not break a line of the answer (mend 15)", async () => {
  const told: string[] = [];
  vi.mocked(process.stdout.write).mockImplementation((chunk) => told.push(String(chunk)) > 0);
  vi.mocked(process.stderr.write).mockImplementation((chunk) => told.push(String(chunk)) > 0);
  const note = (about: string, said: string) => ({ type: "note", about, text: said }) as EntryDraft;
  await once([note("budget", "budget: near"), text("hi"), note("budget", "budget: reached"), ended("completed")]);
  expect(told.join("")).toBe("holdfast: budget: near\nhi\nholdfast: budget: reached\n");
});

test("text before and after a tool is separated, and text of other turns is not printed", async () => {
  const tool = { type: "tool_started", call: "c", title: "ls", kind: "execute", input: null, files: [] } as EntryDraft;
  await once([text("I look."), tool, text("Done.\n"), tool, text("Really."), ended("completed")], {
    during: (daemon) => daemon.write(text("of another turn"), "other"),
  });
  expect(out).toBe("I look.\n\nDone.\n\nReally.\n");
});

test("an answer on a terminal is formatted", async () => {
  setTerminal(true);
  vi.stubEnv("NO_COLOR", "");
  vi.stubEnv("TERM", "xterm");
  await once([text("# Title\n\x1b[2Jtext"), ended("completed")], { wanted: { agent: "demo" } });
  expect(out).toBe("\x1b[1;4mTitle\x1b[0m\ntext\n");
  expect(err).toBe("Continue: holdfast chat fresh\n");
  vi.unstubAllEnvs();
});

test("a session started for the turn is stopped afterwards", async () => {
  for (const options of [{ wanted: { agent: "demo", name: "x" } }, { ended: true }]) {
    const { daemon } = await once([text("ok"), ended("completed")], options);
    expect(daemon.asked("stopSession").length).toBe(1);
  }
});

describe("the exit code shows why an answer is incomplete", () => {
  const failure: EntryDraft = { type: "error", code: "x", message: "no network", hint: "plug it in", retry: true };
  test.each([
    ["refused", [], 36, "fix refused to continue"],
    ["cancelled", [], 37, "the turn of fix was cancelled; its output so far is kept"],
    ["max_tokens", [], 38, "the answer of fix was cut off at a limit of tokens"],
    ["max_requests", [], 38, "the answer of fix was cut off at a limit of requests"],
    ["failed", [failure], 35, "fix: no network"],
    ["interrupted", [], 35, "the turn of fix was cut off"],
  ] as const)("%s", async (reason, before, code, message) => {
    const result = await once([text("half"), ...before, ended(reason)]);
    expect(result).toMatchObject({ code, error: { message } });
    expect(out).toBe("half\n");
  });
});

test("--json prints an object, also for a failed turn", async () => {
  const usage: EntryDraft = {
    type: "usage",
    model: "small",
    input: 5,
    output: 2,
    cacheRead: null,
    cacheWrite: null,
    cost: 0.01,
    context: null,
  };
  await once(
    [text("half"), usage, { type: "error", code: "x", message: "no network", hint: "holdfast resume NAME", retry: true }, ended("failed")],
    {
      json: true,
    },
  );
  expect(JSON.parse(out)).toEqual({
    session: "fix0000000",
    name: "fix",
    text: "half",
    reason: "failed",
    error: { code: "x", message: "no network", hint: "holdfast resume fix", retry: true },
    usage: { model: "small", input: 5, output: 2, cacheRead: null, cacheWrite: null, cost: 0.01, context: null, estimated: false },
  });
  out = "";
  await once([text("all"), ended("completed")], { json: true });
  expect(JSON.parse(out)).toMatchObject({ text: "all", error: null, usage: null });
});

test("a permission request is reported on standard error with the command that allows it", async () => {
  const ask = {
    type: "approval_asked",
    ask: "a",
    call: null,
    title: "Run make",
    kind: "execute",
    input: { command: "make" },
    options: [],
  } as EntryDraft;
  const { code } = await once([ask], {
    during(daemon) {
      daemon.approvals = [{ id: "ab", ask: "a", digest: "d", text: "execute: make" } as never];
      const id = daemon.messages[0]?.id ?? "";
      void vi.waitFor(() => expect(err).not.toBe("")).finally(() => daemon.write(ended("completed"), id));
    },
  });
  expect({ code, err }).toEqual({
    code: 0,
    err: `holdfast: permission requested: execute: make · in the agent's words: “Run make”; allow it: holdfast approvals allow ab\n`,
  });
});

test("a message that the agent never received is reported", async () => {
  const daemon = new ScriptedDaemon();
  daemon.takes = false;
  daemon.session("fix");
  const answered = answerOnce(daemon.context(), { existing: "fix" }, "do it");
  const failing = expect(answered).rejects.toMatchObject({ code: "message_failed" });
  while (daemon.messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  Object.assign(daemon.messages[0] as object, { state: "failed", why: "no", turnStartedAt: null });
  await failing;
});

test("Ctrl+C cancels the turn and keeps the output so far", async () => {
  const { code } = await once([text("half"), ended("cancelled")], {
    during(daemon) {
      process.emit("SIGINT", "SIGINT");
      expect(daemon.asked("cancelTurn").length).toBe(1);
    },
  });
  expect({ code, out }).toEqual({ code: 37, out: "half\n" });
});

test("an agent that ends without a reply interrupts the turn", async () => {
  const error: EntryDraft = { type: "error", code: "agent_ended", message: "it crashed", hint: null, retry: true };
  const { code, error: told } = await once([], {
    during(daemon) {
      daemon.write(error, null);
      daemon.change(daemon.sessions[0] as never, { endedAt: "x", status: "failed" });
    },
  });
  expect(code).toBe(35);
  expect(told?.message).toBe("fix: it crashed");
});
