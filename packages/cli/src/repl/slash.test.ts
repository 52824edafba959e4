import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ME, ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { candidatesFor } from "./completion.ts";
import type { Desk } from "./desk.ts";
import { Files } from "./files.ts";
import { painter } from "./paint.ts";
import { runSlash, SLASHES } from "./slash.ts";
import { Talk } from "./talk.ts";
import { ConversationView } from "./view.ts";

async function open(more: object = {}) {
  const daemon = new ScriptedDaemon();
  const session = daemon.session("fix", more);
  const context = daemon.context();
  const talk = new Talk(context, session);
  const paint = painter(false);
  const view = new ConversationView({ width: () => 80, paint, painted: true, me: () => ME, name: () => "api", now: () => 0 });
  const lines: string[] = [];
  const did: string[] = [];
  const desk: Desk = {
    context,
    talk,
    view,
    paint,
    conversation: await talk.now(),
    print: (printed) => void lines.push(...printed),
    say: (text, options) => void did.push(`say ${text}${options?.steer ? " now" : ""}`),
    refresh: () => talk.now(),
    show: async (turns) => [`the last ${turns}`],
    goTo: (name) => void did.push(`go to ${name}`),
    leave: () => void did.push("leave"),
  };
  return { daemon, session, desk, lines, did, run: (line: string) => runSlash(desk, line) };
}

const entry = (of: object) => ({ v: 1, n: 1, at: new Date(0).toISOString(), turn: "t", ...of }) as never;

test("/help lists every command, the agent's own commands and the keys", async () => {
  const { run, lines } = await open();
  await run("/help");
  for (const name of Object.keys(SLASHES)) expect(lines.join("\n")).toContain(`/${name}`);
  expect(lines.join("\n")).toMatch(/from the agent\n +\/compact +Make the context smaller/);
  expect(lines.join("\n")).toContain("Ctrl+R");
});

test.each([
  ["/exit", "leave"],
  ["/quit", "leave"],
  ["/q", "leave"],
  ["/steer go left", "say go left now"],
  ["/sessions other", "go to other"],
])("%s does: %s", async (line, done) => {
  const { run, did } = await open();
  expect(await run(line)).toBe(true);
  expect(did).toEqual([done]);
});

test("/retry sends the last message again", async () => {
  const { run, did, desk } = await open();
  await expect(run("/retry")).rejects.toThrow("there is no message to send again");
  desk.view.push(entry({ type: "user", message: "t", from: ME, text: "do it", addition: null, steer: false }));
  await run("/retry");
  expect(did).toEqual(["say do it"]);
});

test("/history shows the given number of turns", async () => {
  const { run, lines } = await open();
  await run("/history");
  await run("/history 3");
  expect(lines).toEqual(["the last 10", "the last 3"]);
  await expect(run("/history many")).rejects.toThrow('"many" is not a number');
});

test("/save writes the whole conversation", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "hf-slash-"));
  try {
    const { run, lines, daemon, desk } = await open();
    daemon.write({ type: "text", text: "hello" });
    const file = path.join(directory, "talk.md");
    await run(`/save ${file}`);
    expect(readFileSync(file, "utf8")).toContain("hello");
    expect(lines[0]).toContain("talk.md");
    await expect(run(`/save ${file}`)).rejects.toMatchObject({ code: "file_exists" });
    await expect(run("/save")).rejects.toThrow("expected /save FILE");
    const other = { ...desk, conversation: undefined };
    await runSlash(other, `/save ${directory}/second.md`);
    expect(existsSync(path.join(directory, "second.md"))).toBe(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("/cancel cancels the turn, and /clear clears the memory", async () => {
  const { run, daemon, lines, session } = await open();
  await run("/cancel");
  expect(daemon.asked("cancelTurn").length).toBe(1);
  await run("/clear");
  expect(daemon.asked("clearConversation").length).toBe(1);
  expect(lines).toEqual([]);
  daemon.failures.clear();
  const idle = new Talk(daemon.context({ client: { call: async () => ({ session, cancelled: false }) } as never }), session);
  const { desk } = await open();
  await runSlash({ ...desk, talk: idle, print: (printed) => void lines.push(...printed) }, "/cancel");
  expect(lines).toEqual(["· no turn is running"]);
});

describe("/model and /mode", () => {
  test("list the choices and set one", async () => {
    const { run, lines, daemon } = await open();
    await run("/model");
    expect(lines).toEqual(["● small", "○ large  Large: thinks longer"]);
    await run("/mode auto");
    expect(daemon.asked("setConversation")[0]?.body).toEqual({ mode: "auto" });
  });

  test("report that the agent offers no choice", async () => {
    const { run, lines, daemon } = await open();
    daemon.settings = { mode: null, modes: [], model: "only", models: [], commands: [] };
    await run("/model");
    await run("/mode");
    daemon.settings = null;
    vi.useFakeTimers({ toFake: ["performance"] });
    // The wait for settings is over at each look, however late it begins.
    const passing = setInterval(() => vi.advanceTimersByTime(6000), 20);
    await run("/mode");
    clearInterval(passing);
    vi.useRealTimers();
    expect(lines).toEqual([
      "· the model is only; it offers no other",
      "· the agent offers no mode to choose",
      "· the agent offers no mode to choose",
    ]);
  });
});

describe("/approve", () => {
  const approval = {
    id: "ab",
    name: "fix",
    agent: "demo",
    ask: "a1",
    digest: "d",
    text: "execute: make",
    for: "approval",
    tool: "execute",
    input: { command: "make" },
    directory: "/",
    status: "open",
    requestedAt: new Date(0).toISOString(),
    expiresAt: null,
    otherwise: "it waits",
    answers: ["allow", "deny"],
  } as never;

  test.each([
    ["/approve", { decision: "allow" }],
    ["/approve no", { decision: "deny" }],
    ["/approve always", { decision: "allow", always: true }],
  ])("%s answers with %j", async (line, body) => {
    const { run, daemon, desk } = await open();
    desk.view.push(entry({ type: "approval_asked", ask: "a1", call: null, title: "Run make", kind: "execute", input: null, options: [] }));
    daemon.approvals = [approval];
    await run(line);
    expect(daemon.asked("answerApproval")).toEqual([{ params: { id: "ab" }, body: { ...body, digest: "d" } }]);
  });

  test("a request that was not shown here is shown instead of answered (mend 6)", async () => {
    const { run, daemon, lines } = await open();
    daemon.approvals = [approval];
    await run("/approve");
    expect(lines.join("\n")).toContain("command: make");
    expect(daemon.asked("answerApproval")).toEqual([]);
  });

  test("show prints the whole request", async () => {
    const { run, daemon, desk, lines } = await open();
    desk.view.push(entry({ type: "approval_asked", ask: "a1", call: null, title: "Run make", kind: "execute", input: null, options: [] }));
    daemon.approvals = [approval];
    await run("/approve show");
    expect(lines.join("\n")).toContain("command: make");
    await expect(run("/approve perhaps")).rejects.toThrow("expected /approve yes, no, always or show");
    daemon.approvals = [];
    const other = await open();
    await other.run("/approve");
    expect(other.lines).toEqual(["· no open permission request"]);
  });
});

test("/unfold expands a tool, and /unfold all every later one", async () => {
  const { run, lines, desk } = await open();
  await expect(run("/unfold")).rejects.toThrow("no tool output to expand yet");
  desk.view.push(entry({ type: "tool_started", call: "c", title: "ls", kind: "execute", input: null, files: [] }));
  desk.view.push(entry({ type: "tool_completed", call: "c", ok: true }));
  await run("/unfold 1");
  await run("/unfold");
  expect(lines.filter((line) => line === "✓ [1] ls").length).toBe(2);
  await expect(run("/unfold 7")).rejects.toThrow("there is no [7] to expand");
  await run("/unfold all");
  expect(desk.view.unfolds).toBe(true);
  await run("/unfold none");
  expect(desk.view.unfolds).toBe(false);
});

const spent = {
  turns: 2,
  input: 1200,
  output: 300,
  cacheRead: 0,
  cacheWrite: 0,
  unknownTokens: 0,
  cost: 0.02,
  unknownCosts: 0,
  context: { used: 170_000, size: 200_000 },
};

test("/status, /cost and /context show the state of the session", async () => {
  const { run, lines } = await open({ turns: 2, spent });
  await run("/status");
  expect(lines.join("\n")).toMatch(/name +fix\n +agent +demo\n +status +idle\n +mode +ask\n +model +small\n +turns +2/);
  lines.length = 0;
  await run("/cost");
  await run("/context");
  expect(lines).toEqual([
    "  2 turns",
    "  1.2k in, 300 out",
    "  $0.02",
    "  █████████████████░░░ 170k of 200k (85 %)",
    "  the context is nearly full: /clear starts with an empty one",
  ]);
});

test("unreported usage is shown as unknown", async () => {
  const { run, lines, session } = await open({ turns: 1 });
  await run("/cost");
  await run("/context");
  Object.assign(session, { spent: { ...spent, context: { used: 500, size: 0 } } });
  await run("/context");
  expect(lines).toEqual([
    "  1 turn; the agent does not report its tokens, so the cost is unknown",
    "· the agent does not report its context usage",
    "  500",
  ]);
});

test("/sessions lists the conversations", async () => {
  const { run, lines, daemon } = await open();
  daemon.session("other", { turns: 3 });
  daemon.session("build", { kind: "shell" });
  await run("/sessions");
  expect(lines.join("\n")).toMatch(/NAME +STATUS +AGENT +TURNS +DIRECTORY\n● fix .*\n○ other +idle +demo +3/);
  expect(lines.join("\n")).not.toContain("build");
});

test("the agent's own commands are passed on, and unknown ones are refused with suggestions", async () => {
  const { run } = await open();
  expect(await run("/compact now")).toBe(false);
  await expect(run("/mdoe")).rejects.toMatchObject({ message: "there is no command /mdoe", candidates: ["/model", "/mode"] });
  await expect(run("/compost")).rejects.toMatchObject({ candidates: ["/compact"] });
  await expect(run("/constructor")).rejects.toMatchObject({ candidates: ["/context", "/cost", "/compact"] });
  await expect(run("/")).rejects.toThrow("there is no command /");
});

describe("Tab", () => {
  const offered = async (text: string, at: { desk: Desk | undefined; files: Files | undefined }) => candidatesFor(text, text.length, at);

  test("completes commands of the chat and of the agent", async () => {
    const { desk } = await open();
    expect(await offered("/mo", { desk, files: undefined })).toEqual({ from: 0, words: ["/model", "/mode"] });
    expect(await offered("/com", { desk, files: undefined })).toEqual({ from: 0, words: ["/compact"] });
    expect((await offered("/he", { desk: undefined, files: undefined })).words).toEqual(["/help"]);
  });

  test("completes arguments of commands", async () => {
    const { desk, daemon } = await open();
    daemon.session("other");
    daemon.session("shell", { kind: "shell" });
    expect(await offered("/model l", { desk, files: undefined })).toEqual({ from: 7, words: ["large"] });
    expect((await offered("/mode ", { desk, files: undefined })).words).toEqual(["ask", "auto"]);
    expect((await offered("/sessions ", { desk, files: undefined })).words).toEqual(["fix", "other"]);
    expect((await offered("/approve y", { desk, files: undefined })).words).toEqual(["yes"]);
    expect((await offered("/unfold a", { desk, files: undefined })).words).toEqual(["all"]);
    for (const text of ["/save x", "/model l", "hello", "/nothing x"]) {
      const desks = text === "/model l" ? undefined : desk;
      expect((await offered(text, { desk: desks, files: undefined })).words).toEqual([]);
    }
  });

  test("completes files after an @", async () => {
    const files = new Files(import.meta.dirname);
    expect(await offered("look at @slash.te", { desk: undefined, files })).toEqual({ from: 9, words: ["slash.test.ts"] });
    expect((await offered("@x", { desk: undefined, files: undefined })).words).toEqual([]);
    expect((await offered("mail a@slash", { desk: undefined, files })).words).toEqual([]);
  });
});
