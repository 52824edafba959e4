import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostName, Principal, SessionId } from "@holdfast/contract";
import { type Home, KeyedMutex, openHome, runDirectory } from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import { DAEMON } from "../access/principal.ts";
import { injectHooks } from "../agent/hooks/injection.ts";
import { Profiles } from "../agent/profiles/index.ts";
import type { Host } from "../host/host.ts";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { ApprovalQueries, type ApprovalRecord, approvalsProjection } from "../projection/approvals.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection, snapshotOf } from "../projection/sessions.ts";
import { AgentStatus } from "../session/status/agent-status.ts";
import { Approvals } from "./approvals.ts";
import { type Rule, readRules } from "./rules.ts";

const SOMEBODY = "user:tester" as Principal;
const SESSION = "aaaaaaaaaa" as SessionId;
const RUN = { session: SESSION, run: 1 };

/** The parts of one daemon, on a home that the next daemon reuses. The real hook script makes the requests. */
class World implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly home: Home;
  readonly directory: string;
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: [sessionsProjection, approvalsProjection], machineName: "box" });
  readonly sessions = new SessionQueries(this.db);
  readonly queries = new ApprovalQueries(this.db);
  readonly profiles = new Profiles();
  readonly hooks: ChildProcessWithoutNullStreams[] = [];
  readonly agent: string;
  rules: Rule[] = [];
  hosts = new Map<HostName, Host>();
  #status: AgentStatus | undefined;
  #approvals: Approvals | undefined;

  constructor(agent = "claude", name = 'it\'s a "home" $HOME') {
    this.agent = agent;
    this.home = openHome({ HOLDFAST_HOME: join(this.#directory.path, name) });
    this.directory = runDirectory(this.home, SESSION, 1);
    mkdirSync(this.directory, { recursive: true });
    injectHooks(this.profiles.get(agent), { directory: this.directory, env: { HOME: "/nowhere" }, args: [], cwd: "/" });
    const data = { name: "fix", kind: "terminal", agent, role: null, objective: null, host: "tmux", cwd: "/code", command: ["x"] } as const;
    this.journal.append(
      { type: "session.created", actor: SOMEBODY, session: SESSION, data: { ...data, command: ["x"] } },
      { type: "session.started", actor: DAEMON, session: SESSION, data: { run: 1, pid: 7, pidStart: "x", outputPath: "/out" } },
    );
  }

  /** Starts a daemon. */
  begin(): Approvals {
    const { home, journal, queries, sessions, profiles, rules, hosts } = this;
    this.#status = new AgentStatus({ home, journal, queries: sessions, hosts, profiles });
    this.#approvals = new Approvals({
      home,
      journal,
      queries,
      sessions,
      profiles,
      status: this.#status,
      rules,
      hosts,
      typing: new KeyedMutex(),
    });
    this.#status.parkWith(this.#approvals);
    this.#status.followWith(this.#approvals.follow);
    this.#status.began(RUN);
    this.#approvals.begin();
    return this.#approvals;
  }

  /** Kills the daemon: only its files remain. */
  kill(): void {
    this.#approvals?.[Symbol.dispose]();
    this.#status?.[Symbol.dispose]();
  }

  get status(): AgentStatus {
    if (!this.#status) throw new Error("no daemon began");
    return this.#status;
  }

  /** The agent runs its hook. */
  ask(command: string, payload: object = {}): { printed: Promise<string>; process: ChildProcessWithoutNullStreams } {
    const child = spawn("sh", [join(this.directory, "hooks", "ask")]);
    this.hooks.push(child);
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    const printed = new Promise<string>((resolve) => child.on("close", () => resolve(text)));
    const whole = { hook_event_name: "PermissionRequest", tool_name: "Bash", tool_input: { command }, cwd: "/code/src", ...payload };
    child.stdin.end(JSON.stringify(whole));
    return { printed, process: child };
  }

  tell(payload: object): void {
    const child = spawn("sh", [join(this.directory, "hooks", "tell")]);
    child.stdin.end(JSON.stringify(payload));
  }

  waiting(count = 1): Promise<ApprovalRecord[]> {
    return eventually(() => {
      const open = this.queries.list({ open: true });
      expect(open).toHaveLength(count);
      return open;
    });
  }

  left(): string[] {
    return ["answers", "signals"].flatMap((name) => readdirSync(join(this.directory, name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    for (const hook of this.hooks) hook.kill("SIGKILL");
    this.db.close();
    this.#directory.remove();
  }
}

function eventually<T>(question: () => T): Promise<T> {
  return vi.waitFor(question, { timeout: 10_000, interval: 10 });
}

function decisionIn(printed: string): unknown {
  return (JSON.parse(printed) as { hookSpecificOutput: { decision: unknown } }).hookSpecificOutput.decision;
}

test("a hook's request waits, and the hook prints the answer", async () => {
  await using world = new World();
  const approvals = world.begin();
  const { printed } = world.ask("rm -rf build");
  const [asked] = await world.waiting();
  expect(asked).toMatchObject({ for: "approval", tool: "Bash", text: "Bash: rm -rf build", directory: "/code/src", status: "open" });
  expect(world.sessions.get(SESSION)).toMatchObject({ status: "waiting", standing: { attention: { for: "approval" } } });
  expect(approvals.answer("fix", { decision: "allow", actor: SOMEBODY })).toMatchObject({ status: "allowed", answeredBy: SOMEBODY });
  expect(decisionIn(await printed)).toEqual({ behavior: "allow" });
  expect(world.sessions.get(SESSION)?.status).toBe("working");
  expect(world.left()).toEqual([]);
});

test("a tool call with questions besides its command is listed, allowed and audited as its command (mend 6)", async () => {
  await using world = new World();
  const approvals = world.begin();
  const questions = [{ question: "Which colour?", options: [{ label: "Red" }, { label: "Blue" }] }];
  const { printed } = world.ask("", { tool_input: { questions, command: "rm -rf ~ # \u202e\n: done" } });
  const [asked] = await world.waiting();
  expect(asked).toMatchObject({ for: "approval", text: expect.stringMatching(/^Bash: rm -rf ~ # <U\+202E>␊: done · questions: /) });
  expect(world.sessions.get(SESSION)?.standing?.attention?.text).toMatch(/^Bash: rm -rf ~/);
  const { id, digest } = approvals.get("fix");
  expect(() => approvals.answer(id, { decision: "answer", reason: "Blue", actor: SOMEBODY })).toThrow("is not a question");
  const stale = { decision: "allow" as const, digest: "of something else", actor: SOMEBODY };
  expect(() => approvals.answer(id, stale)).toThrow(expect.objectContaining({ code: "approval_changed" }));
  expect(world.queries.get(id)?.status).toBe("open");
  approvals.answer(id, { decision: "allow", digest, actor: SOMEBODY });
  expect(decisionIn(await printed)).toEqual({ behavior: "allow" });
  const events = world.journal.readAfter(0, 100, { types: ["approval.requested", "approval.answered"] });
  expect(events.map(({ data }) => String((data as { text: string }).text).slice(0, 14))).toEqual(["Bash: rm -rf ~", "Bash: rm -rf ~"]);
});

test("a protocol agent's title is shown next to its arguments, never instead of them (mend 6)", async () => {
  await using world = new World();
  const approvals = world.begin();
  const record = world.sessions.get(SESSION);
  if (!record) throw new Error("there is no session");
  const ask = { ask: "a1", at: new Date().toISOString(), title: "List files", kind: "execute", input: { command: "rm -rf ~" } };
  world.journal.append(...approvals.asked(record, ask).drafts);
  expect(approvals.get("fix")).toMatchObject({
    ask: "a1",
    tool: "execute",
    title: "List files",
    text: "execute: rm -rf ~ · in the agent's words: “List files”",
  });
  const changes = [{ path: "/etc/hosts", old: "a\n", new: "b\n" }];
  world.journal.append(...approvals.asked(record, { ...ask, ask: "a2", title: "Fix a typo", kind: "edit", input: null, changes }).drafts);
  expect(approvals.list({ all: false })[1]).toMatchObject({ changes, text: expect.stringMatching(/^edit: \/etc\/hosts \(−1 \+1 lines\)/) });
});

test("a protocol agent's request that is too long to be shown can only be denied (mend 6)", async () => {
  await using world = new World();
  const approvals = world.begin();
  const record = world.sessions.get(SESSION);
  if (!record) throw new Error("there is no session");
  const at = new Date().toISOString();
  const command = `echo ${"x".repeat(200_000)}; rm -rf ~`;
  const changes = [{ path: "/a", old: null, new: command }];
  const asks = [
    { ask: "a1", at, title: "Say x", kind: "execute", input: { command } },
    { ask: "a2", at, title: "Write x", kind: "edit", input: null, changes },
  ];
  for (const ask of asks) world.journal.append(...approvals.asked(record, ask).drafts);
  for (const { id, digest, answers, text } of approvals.list({ all: false })) {
    expect(text).toContain("too long to be shown");
    expect(answers).toEqual(["deny"]);
    for (const always of [false, true])
      expect(() => approvals.answer(id, { decision: "allow", digest, always, actor: SOMEBODY })).toThrow("asks for more than can be shown");
    expect(approvals.answer(id, { decision: "deny", digest, actor: SOMEBODY })).toMatchObject({ status: "denied" });
  }
});

test("a request through Holdfast's own tool shows its arguments next to the agent's sentence (mend 6)", async () => {
  await using world = new World();
  const approvals = world.begin();
  const record = world.sessions.get(SESSION);
  if (!record) throw new Error("there is no session");
  const asked = approvals.request(record, { for: "approval", text: "tidy up", tool: "Bash", input: { command: "rm -rf ~" } }, SOMEBODY);
  expect(asked.text).toBe("Bash: rm -rf ~ · in the agent's words: “tidy up”");
  expect(approvals.request(record, { for: "question", text: "tidy\u200b up?" }, SOMEBODY).text).toBe("tidy<U+200B> up?");
});

test("a denial carries its reason, and a request can be answered only once", async () => {
  await using world = new World();
  const approvals = world.begin();
  const { printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  const id = asked?.id ?? "";
  approvals.answer(id, { decision: "deny", reason: "not that", actor: SOMEBODY });
  expect(() => approvals.answer(id, { decision: "allow", actor: SOMEBODY })).toThrow(expect.objectContaining({ code: "approval_over" }));
  expect(decisionIn(await printed)).toEqual({ behavior: "deny", message: "not that" });
  expect(world.journal.readAfter(0, 100, { types: ["approval.answered"] })).toHaveLength(1);
});

test("a daemon that dies while a hook waits changes nothing", async () => {
  await using world = new World();
  world.begin();
  const { printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  world.kill();
  const next = world.begin();
  expect(await world.waiting()).toMatchObject([{ id: asked?.id }]);
  next.answer("fix", { decision: "allow", actor: SOMEBODY });
  expect(decisionIn(await printed)).toEqual({ behavior: "allow" });
});

test("the next daemon takes a request made while no daemon ran", async () => {
  await using world = new World();
  const { printed } = world.ask("rm x");
  await eventually(() => expect(world.left().filter((name) => /^[^.].*\.ask$/.test(name))).toHaveLength(2));
  world.begin().answer("fix", { decision: "allow", actor: SOMEBODY });
  expect(decisionIn(await printed)).toEqual({ behavior: "allow" });
});

test("the next daemon delivers a journaled answer that did not reach its hook", async () => {
  await using world = new World();
  world.begin();
  const { printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  world.kill();
  const data = { id: asked?.id ?? "", run: 1, decision: "deny", reason: "no", text: "" } as const;
  world.journal.append({ type: "approval.answered", actor: SOMEBODY, session: SESSION, data });
  world.begin();
  expect(decisionIn(await printed)).toEqual({ behavior: "deny", message: "no" });
});

test("a hook whose request was lost with the journal is ended without an answer", async () => {
  await using world = new World("codex");
  world.begin();
  const { printed } = world.ask("rm x");
  await world.waiting();
  world.kill();
  world.db.exec("DELETE FROM approvals; DELETE FROM events WHERE type LIKE 'approval.%'");
  world.begin();
  expect(await printed).toBe("");
  expect(world.left()).toEqual([]);
});

test("an answer that could not be delivered, on a full disk for example, is delivered as soon as possible", async () => {
  await using world = new World();
  const approvals = world.begin();
  const { printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  const inTheWay = join(world.directory, "answers", `${world.queries.get(asked?.id ?? "")?.ask}.json`);
  mkdirSync(inTheWay);
  expect(approvals.answer("fix", { decision: "deny", reason: "no", actor: SOMEBODY })).toMatchObject({ status: "denied" });
  rmSync(inTheWay, { recursive: true });
  world.status.look(RUN);
  expect(decisionIn(await printed)).toEqual({ behavior: "deny", message: "no" });
  expect(world.left()).toEqual([]);
});

test("a request that was journaled before its file was deleted is not recorded twice", async () => {
  await using world = new World();
  const approvals = world.begin();
  world.ask("rm x");
  const [asked] = await world.waiting();
  const record = world.sessions.get(SESSION);
  const { ask } = world.queries.get(asked?.id ?? "") ?? {};
  if (!record || !ask) throw new Error("nothing was asked");
  const signal = { event: "PermissionRequest", at: new Date().toISOString(), claim: {}, tool: null, directory: null } as never;
  expect(approvals.park({ record, ask, signal })?.drafts).toEqual([]);
});

test("deeply nested arguments are shown and answered like others, also by the next daemon", async () => {
  await using world = new World();
  world.begin();
  const { printed } = world.ask("", { tool_input: { deep: JSON.parse("[".repeat(5000) + "]".repeat(5000)), ask: "1.ask" } });
  const [asked] = await world.waiting();
  const { ask = null } = world.queries.get(asked?.id ?? "") ?? {};
  world.kill();
  const next = world.begin();
  expect(world.queries.byAsk(SESSION, 1, ask ?? "")?.id).toBe(asked?.id);
  expect(world.queries.byAsk(SESSION, 1, "1.ask")).toBeUndefined();
  next.answer("fix", { decision: "allow", actor: SOMEBODY });
  expect(decisionIn(await printed)).toEqual({ behavior: "allow" });
});

test("two requests at once get their own answers", async () => {
  await using world = new World();
  const approvals = world.begin();
  const first = world.ask("one");
  await world.waiting();
  const second = world.ask("two");
  const [one, two] = await world.waiting(2);
  expect(() => approvals.answer("fix", { decision: "allow", actor: SOMEBODY })).toThrow(
    expect.objectContaining({ code: "approval_ambiguous", candidates: [one?.id, two?.id] }),
  );
  approvals.answer(one?.id ?? "", { decision: "allow", actor: SOMEBODY });
  expect(decisionIn(await first.printed)).toEqual({ behavior: "allow" });
  // The other request still waits, and so does the session.
  expect(world.sessions.get(SESSION)).toMatchObject({ status: "waiting", standing: { attention: { text: "Bash: two" } } });
  approvals.answer(two?.id ?? "", { decision: "deny", actor: SOMEBODY });
  expect(decisionIn(await second.printed)).toMatchObject({ behavior: "deny" });
});

test.each(["SIGTERM", "SIGKILL"] as const)("the request of a hook ended by %s is withdrawn and cannot be answered", async (signal) => {
  await using world = new World("codex");
  const approvals = world.begin();
  const { process, printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  process.kill(signal);
  expect(await printed).toBe("");
  // A killed hook sends no notice. The next look, or an answer, finds that it has ended.
  if (signal === "SIGKILL") {
    expect(() => approvals.answer("fix", { decision: "allow", actor: SOMEBODY })).toThrow(
      expect.objectContaining({ code: "approval_over" }),
    );
  }
  await eventually(() => expect(world.queries.get(asked?.id ?? "")?.status).toBe("withdrawn"));
  // There is no evidence whether the turn continues (truth 5).
  const said = world.sessions.get(SESSION)?.standing?.evidence.find(({ what }) => what.startsWith("approval.resolved"));
  expect(said?.claim).toEqual({ attention: null });
  expect(world.left()).toEqual([]);
  expect(world.sessions.get(SESSION)?.status).not.toBe("waiting");
});

test("a hook whose signal cannot be read is ended, and the unread file is listed", async () => {
  await using world = new World();
  world.begin();
  world.status.followWith(({ signal }) => {
    if (signal?.tool) throw new Error("a defect");
    return [];
  });
  const { printed } = world.ask("rm x");
  // Each look retries, until the limit of attempts.
  await eventually(() => expect(world.left().filter((name) => /^[^.].*\.ask$/.test(name))).toHaveLength(2));
  world.status.look(RUN);
  world.status.look(RUN);
  expect(await printed).toBe("");
  expect(world.left()).toEqual([]);
  const record = world.sessions.get(SESSION);
  expect(record && world.status.explain(record).unread).toEqual([expect.stringMatching(/unread\/.+\.ask$/)]);
});

test.each([null, "WriteFile a.txt\n... first 106 lines hidden (Ctrl+O to show) ...\n● 1. Allow once"])(
  "a request that the screen does not show in full cannot be answered from the inbox, and the error says why: %j",
  async (dialog) => {
    await using world = new World("gemini");
    world.hosts.set("tmux", { screen: () => new Promise(() => {}) } as unknown as Host);
    const approvals = world.begin();
    const asked = {
      id: "bbbbbbbbbb",
      run: 1,
      for: "approval",
      tool: null,
      input: null,
      text: "x",
      directory: "/",
      channel: "screen",
    } as const;
    const data = { ...asked, expiresAt: null, otherwise: "", reasons: false, ask: null, dialog };
    world.journal.append({ type: "approval.requested", actor: DAEMON, session: SESSION, data });
    for (const decision of ["allow", "deny"] as const)
      expect(() => approvals.answer("bbbbbbbbbb", { decision, actor: SOMEBODY })).toThrow("asks for more than its screen shows");
    expect(approvals.get("bbbbbbbbbb")).toMatchObject({ status: "open", answers: [] });
  },
);

test("the hooks of a killed agent end with its run", async () => {
  await using world = new World();
  world.begin();
  const { printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  world.status.ended(RUN);
  expect(await printed).toBe("");
  expect(world.queries.get(asked?.id ?? "")?.status).toBe("run_ended");
  expect(world.left()).toEqual([]);
});

test("a killed hook is found by the sweep", async () => {
  await using world = new World("codex");
  world.begin();
  const { process, printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  process.kill("SIGKILL");
  await printed;
  world.status.look(RUN);
  expect(world.queries.get(asked?.id ?? "")?.status).toBe("withdrawn");
});

test("a hook is ended without an answer just before its agent stops waiting", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], shouldAdvanceTime: true });
  try {
    await using world = new World("qwen", "home");
    const approvals = world.begin();
    const { printed } = world.ask("rm x");
    const [asked] = await world.waiting();
    expect(Date.parse(asked?.expiresAt ?? "") - Date.parse(asked?.requestedAt ?? "")).toBeLessThan(60_000);
    vi.advanceTimersByTime(56_000);
    expect(await printed).toBe("");
    expect(world.queries.get(asked?.id ?? "")?.status).toBe("timed_out");
    expect(() => approvals.answer(asked?.id ?? "", { decision: "allow", actor: SOMEBODY })).toThrow("now asks on its own screen");
  } finally {
    vi.useRealTimers();
  }
});

test("a tool that has run was allowed on the screen, and its hook is ended", async () => {
  await using world = new World();
  world.begin();
  const { printed } = world.ask("rm x");
  const [asked] = await world.waiting();
  world.tell({ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "rm y" } });
  world.tell({ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "rm x" } });
  expect(await printed).toBe("");
  expect(world.queries.get(asked?.id ?? "")?.status).toBe("elsewhere");
});

test("a subagent's request waits too", async () => {
  await using world = new World();
  const approvals = world.begin();
  const { printed } = world.ask("rm x", { agent_id: "sub", session_id: "another" });
  await world.waiting();
  expect(world.sessions.get(SESSION)?.status).toBe("waiting");
  approvals.answer("fix", { decision: "allow", actor: SOMEBODY });
  expect(decisionIn(await printed)).toEqual({ behavior: "allow" });
});

test("a rule answers at once without asking a person, and the journal names the rule", async () => {
  await using world = new World();
  world.rules = readRules({ table: { rules: [{ name: "reads", tool: "Bash", pattern: "ls.*", decision: "allow" }] }, file: "", text: "" });
  world.begin();
  expect(decisionIn(await world.ask("ls -l").printed)).toEqual({ behavior: "allow" });
  expect(world.journal.readAfter(0, 100, { byOthers: true, types: ["approval.answered"] })).toMatchObject([
    { actor: "rule:reads", data: { decision: "allow", text: "Bash: ls -l" } },
  ]);
  expect(world.journal.readAfter(0, 100, { types: ["session.status_changed"] })).toEqual([]);
  world.ask("ls; rm x");
  await world.waiting();
});

test("a request too long to be shown is left to the agent's own screen", async () => {
  await using world = new World("codex");
  world.rules = readRules({ table: { rules: [{ tool: "Write", pattern: "src/.*", decision: "allow" }] }, file: "", text: "" });
  world.begin();
  const content = "x".repeat(5_000_000);
  expect(await world.ask("", { tool_input: { command: `cat <<E\n${content}` } }).printed).toBe("");
  expect(world.queries.list()).toEqual([]);
  expect(world.sessions.get(SESSION)).toMatchObject({ status: "waiting", standing: { attention: { for: "approval" } } });
  // A rule matches only the path, which is short.
  const written = world.ask("", { tool_name: "Write", tool_input: { file_path: "src/a", content }, cwd: "/code" });
  expect(decisionIn(await written.printed)).toEqual({ behavior: "allow" });
});

test("the end of a run resolves its approvals", async () => {
  await using world = new World();
  world.begin();
  world.ask("rm x");
  const [asked] = await world.waiting();
  world.status.ended(RUN);
  expect(world.queries.get(asked?.id ?? "")?.status).toBe("run_ended");
});

test("a hook that cannot create its FIFO ends without an answer", async () => {
  await using world = new World();
  world.begin();
  rmSync(join(world.directory, "answers"), { recursive: true });
  expect(await world.ask("rm x").printed).toBe("");
  expect(world.queries.list()).toEqual([]);
});

test("rebuilding the table gives the same rows, also from a snapshot", async () => {
  await using world = new World();
  const approvals = world.begin();
  world.ask("one");
  await world.waiting();
  approvals.answer("fix", { decision: "deny", reason: "no", actor: SOMEBODY });
  world.ask("two");
  await world.waiting();
  const before = world.queries.list();
  world.journal.rebuild();
  expect(world.queries.list()).toEqual(before);
  const data = snapshotOf(world.db, SESSION);
  if (!data) throw new Error("no snapshot");
  world.journal.append({ type: "session.snapshot", actor: DAEMON, session: SESSION, data });
  world.db.exec("DELETE FROM events WHERE type <> 'session.snapshot'");
  world.journal.rebuild();
  expect(world.queries.list()).toEqual(before);
});
