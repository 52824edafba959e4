/** query(): one question to an agent, with events, a result, and nothing left behind. */
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  AbortError,
  AgentCrashed,
  BudgetExceeded,
  DaemonUnreachable,
  type Holdfast,
  HoldfastError,
  PermissionRefused,
  type QueryEvent,
  type QueryOptions,
  query,
  RateLimited,
  Timeout,
  ToolFailed,
  Unauthenticated,
} from "@holdfast/sdk";
import { afterEach, expect, test } from "vitest";
import { type Model, startModel } from "../agents/src/model/server.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { environmentOf } from "./proc.ts";
import { TestRepository } from "./repository.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanups.splice(0).reverse()) await each();
});

function configure(home: TestHome, text: string): void {
  const file = path.join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A home, its SDK, and a working directory. */
async function begin(configuration = ""): Promise<{ home: TestHome; holdfast: Holdfast; cwd: string }> {
  const home = new TestHome();
  cleanups.push(() => home[Symbol.asyncDispose]());
  if (configuration !== "") configure(home, configuration);
  // A private TMPDIR, also for this process: other programs leave files in the machine's.
  const before = process.env.TMPDIR;
  process.env.TMPDIR = home.env.TMPDIR = path.join(home.root, "temporary");
  mkdirSync(home.env.TMPDIR);
  cleanups.push(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  await home.ok(["up"]);
  const holdfast = home.sdk();
  cleanups.push(() => holdfast.close());
  const cwd = path.join(realpathSync(home.root), "work");
  mkdirSync(cwd);
  return { home, holdfast, cwd };
}

/** The built-in agent on the scripted model. */
async function scripted(home: TestHome): Promise<Model> {
  const model = await startModel();
  cleanups.push(() => model[Symbol.asyncDispose]());
  Object.assign(home.env, { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" });
  return model;
}

async function failure(holdfast: Holdfast, options: QueryOptions): Promise<unknown> {
  return holdfast.query(options).result.then(
    () => expect.unreachable("it succeeded"),
    (error: unknown) => error,
  );
}

test("a query is a loop over typed events and a result, works in its own directory, and reports progress (BG-12 together)", async () => {
  const { holdfast, cwd } = await begin();
  const before = process.cwd();
  const told: QueryEvent[] = [];
  const asked = holdfast.query({
    agent: "demo",
    prompt: "think about it\nplan\nask edit\nwrite notes.md hello\nrun pwd\nusage 1000 200",
    cwd,
    onApproval: ({ for: what }) => (what === "approval" ? "allow" : "wait"),
    onProgress: (event) => told.push(event),
  });
  const events: QueryEvent[] = [];
  for await (const event of asked) events.push(event);
  const result = await asked.result;

  expect(told).toEqual(events);
  expect(events[0]).toMatchObject({ type: "started", session: result.session });
  expect(events.at(-1)).toEqual({ type: "result", result });
  const types = new Set(events.map(({ type }) => type));
  for (const type of ["thought", "plan", "tool_started", "tool_output", "tool_completed", "approval_asked", "approval_answered", "text"])
    expect([...types]).toContain(type);
  // A tool's events, in order, under one id.
  const calls = events.flatMap((event) => ("call" in event && event.type.startsWith("tool") ? [`${event.call} ${event.type}`] : []));
  const [, ran] = /^(\S+) tool_started$/.exec(calls.findLast((each) => each.endsWith("started")) ?? "") ?? [];
  expect(calls.filter((each) => each.startsWith(`${ran} `))).toEqual(
    ["started", "output", "completed"].map((each) => `${ran} tool_${each}`),
  );

  expect(result).toMatchObject({ stopReason: "completed", files: ["notes.md"], usage: { turns: 1, input: 1000, output: 200 } });
  expect(result.text).toContain(cwd);
  expect(result.text).toContain("I wrote notes.md.");
  expect(process.cwd()).toBe(before);
  expect(await holdfast.sessions.list({ all: true })).toEqual([]);
});

test("usage is reported per call and summed, and cost uses the prices that the user has set (BG-12 together)", async () => {
  const prices = '[prices."scripted"]\ninput = 2\noutput = 10\n';
  const { home, holdfast, cwd } = await begin(prices);
  await scripted(home);
  const ask = (prompt: string) => holdfast.query({ agent: "model", prompt, cwd }).result;
  const first = await ask("usage 1000 100\nsay one");
  const second = await ask("usage 500 50\nsay two");
  expect([first, second].map(({ text, usage, cost }) => [text, usage?.input, usage?.output, cost])).toEqual([
    ["one", 1000, 100, 0.003],
    ["two", 500, 50, 0.0015],
  ]);
  const { total, rows } = await holdfast.usage({ by: "model" });
  expect(total).toMatchObject({ turns: 2, input: 1500, output: 150, cost: 0.0045 });
  expect(rows).toMatchObject([{ key: "scripted", cost: 0.0045 }]);
});

test("each query may have its own model; a model that the agent does not offer is refused, never replaced silently (BG-12 together)", async () => {
  const { home, holdfast, cwd } = await begin();
  const ask = (model: string) => holdfast.query({ agent: "demo", prompt: "about", cwd, model });
  const { models } = await offered(home);
  expect(models.length).toBeGreaterThan(1);
  for (const model of models) expect((await ask(model).result).text).toContain(`model ${model}`);
  await expect(ask("no-such-model").result).rejects.toMatchObject({ code: "not_offered" });
  expect(await holdfast.sessions.list({ all: true })).toEqual([]);
});

async function offered(home: TestHome): Promise<{ models: string[] }> {
  using holdfast = home.sdk();
  const session = await holdfast.sessions.create({ agent: "demo", chat: true });
  const { settings } = await eventually(async () => {
    const conversation = await holdfast.client.call("getConversation", { params: { ref: session.id } });
    return conversation.settings !== null && conversation;
  });
  await holdfast.sessions.remove(session.id, { force: true });
  return { models: settings?.models.map(({ id }) => id) ?? [] };
}

test("in its own worktree, the changed files are those of git; a persona and a budget apply", async () => {
  const { home, holdfast } = await begin();
  const repo = new TestRepository(home);
  mkdirSync(path.join(repo.path, ".holdfast/personas"), { recursive: true });
  writeFileSync(
    path.join(repo.path, ".holdfast/personas/scribe.md"),
    "---\nname: scribe\ndescription: writes\nagent: demo\n---\nYou are a scribe.\n",
  );
  const asked = holdfast.query({
    persona: "scribe",
    prompt: "run echo two > b.txt && echo more >> a.txt",
    cwd: repo.path,
    worktree: { branch: "scribble" },
    budget: { turns: 3 },
  });
  const { files, session } = await asked.result;
  expect(files).toEqual(["a.txt", "b.txt"]);
  expect(await holdfast.sessions.list({ all: true })).toEqual([]);
  // Its changes are ready to be merged.
  const { workspaces } = await holdfast.client.call("listWorkspaces", {});
  expect(workspaces).toMatchObject([{ branch: "scribble" }]);
  expect(session).toMatch(/^[a-z]/);
});

test("a query can continue the conversation of a session, which stays; a new session may be kept", async () => {
  const { holdfast, cwd } = await begin();
  const { session } = await holdfast.query({ agent: "demo", prompt: "remember the seal", cwd, keep: true }).result;
  const recalled = await holdfast.query({ session, prompt: "recall" }).result;
  expect(recalled).toMatchObject({ text: "I remember: the seal.", session });
  const over = new AbortController();
  const cancelled = holdfast.query({ session, prompt: "say so far\nsleep 60000", signal: over.signal });
  for await (const { type } of cancelled) {
    if (type !== "text") continue;
    over.abort();
    break;
  }
  await expect(cancelled.result).rejects.toBeInstanceOf(AbortError);
  const kept = await holdfast.sessions.get(session);
  expect(kept.record).toMatchObject({ kind: "conversation", turns: 3 });
  await kept.waitFor("idle");
});

/** The state of a home to compare: processes in runs, files, sessions, and open requests at the model. */
function traces(home: TestHome, cwd: string, model?: Model) {
  const inRuns = home.processes().filter(({ pid }) => isInRun(pid));
  return {
    processes: inRuns.map(({ name }) => name),
    files: readdirSync(cwd, { recursive: true }),
    sessions: readdirSync(path.join(home.path, "sessions")),
    temporary: readdirSync(tmpdir()),
    open: model?.asked.filter(({ state }) => state === "open").length ?? 0,
  };
}

function isInRun(pid: number): boolean {
  try {
    return environmentOf(pid).HOLDFAST_RUN !== undefined;
  } catch {
    // The process ended meanwhile.
    return false;
  }
}

test("a query cancelled during the model's answer leaves no request, process, file or session (BG-13 together)", async () => {
  const { home, holdfast, cwd } = await begin();
  const model = await scripted(home);
  mkdirSync(path.join(home.path, "sessions"), { recursive: true });
  const before = traces(home, cwd, model);
  const over = new AbortController();
  const asked = holdfast.query({ agent: "model", prompt: "say begun; talk 100s", cwd, signal: over.signal });
  await eventually(() => model.asked.some(({ state, answer }) => state === "open" && answer.length > 3));
  expect(traces(home, cwd, model).processes.length).toBeGreaterThan(0);
  over.abort(new Error("enough"));
  const error = await asked.result.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({ name: "AbortError", code: "aborted", cause: { message: "enough" } });
  expect(traces(home, cwd, model)).toEqual(before);
  expect(model.asked.map(({ state }) => state)).toEqual(["aborted"]);
});

/** Ignores signals, in its own process session. */
const STUBBORN = "trap '' TERM HUP INT; touch ../stubborn; while :; do sleep 1; done\n";
/** Writes a file, and removes it on SIGTERM. */
const WRITER = "trap 'rm -f half.txt; exit 1' TERM; echo half > half.txt; touch ../writer; while :; do sleep 0.05; done\n";

test("a query cancelled with background shells and a half-written file leaves nothing (BG-13 together)", async () => {
  const { home, holdfast, cwd } = await begin();
  mkdirSync(path.join(home.path, "sessions"), { recursive: true });
  writeFileSync(path.join(cwd, "stubborn.sh"), STUBBORN);
  writeFileSync(path.join(cwd, "writer.sh"), WRITER);
  const before = traces(home, cwd);
  const over = new AbortController();
  const prompt = "background setsid sh stubborn.sh\nrun sh writer.sh";
  const asked = holdfast.query({ agent: "demo", prompt, cwd, signal: over.signal });
  await eventually(() => existsSync(path.join(cwd, "../stubborn")) && existsSync(path.join(cwd, "../writer")));
  expect(traces(home, cwd).processes).toContain("sleep");
  expect(traces(home, cwd).files).toContain("half.txt");
  over.abort();
  await expect(asked.result).rejects.toBeInstanceOf(AbortError);
  expect(traces(home, cwd)).toEqual(before);
});

test.each(["that is cancelled", "that succeeds"])(
  "a query %s ends and removes the sessions that its agent started, and their descendants (mend 21)",
  async (how) => {
    const { home, holdfast, cwd } = await begin();
    mkdirSync(path.join(home.path, "sessions"), { recursive: true });
    // Like the agent's tools: with the run's own token.
    const below = path.join(home.root, "below");
    const shell = `${HOLDFAST} run --name below -- sleep 1000; touch ${below}; exec sleep 1000`;
    const start = `${HOLDFAST} run --name shell -- sh -c '${shell}'; until [ -e ${below} ]; do sleep 0.05; done\n`;
    writeFileSync(path.join(cwd, "start.sh"), start);
    const before = traces(home, cwd);
    const prompt = `run sh start.sh\n${how === "that succeeds" ? "say done" : "sleep 60000"}`;
    const asked = holdfast.query({ agent: "demo", prompt, cwd });
    await eventually(() => existsSync(below));
    if (how === "that succeeds") expect(await asked.result).toMatchObject({ text: expect.stringContaining("done") });
    else {
      asked.abort();
      await expect(asked.result).rejects.toBeInstanceOf(AbortError);
    }
    expect(traces(home, cwd)).toEqual(before);
    expect(await home.json(["ls", "--all"])).toEqual([]);
  },
);

test("a query cancelled before or during its start, or by leaving the loop, leaves nothing (BG-13 together)", async () => {
  const { home, holdfast, cwd } = await begin();
  mkdirSync(path.join(home.path, "sessions"), { recursive: true });
  const before = traces(home, cwd);
  const options = { agent: "demo", prompt: "say hello\nsleep 60000", cwd };
  await expect(holdfast.query({ ...options, signal: AbortSignal.abort() }).result).rejects.toBeInstanceOf(AbortError);
  const starting = holdfast.query(options);
  starting.abort();
  await expect(starting.result).rejects.toBeInstanceOf(AbortError);
  for await (const { type } of holdfast.query(options)) if (type === "text") break;
  expect(traces(home, cwd)).toEqual(before);
});

test("a query survives a daemon kill: every event arrives once", async () => {
  const { home, holdfast, cwd } = await begin();
  const words: string[] = [];
  const asked = holdfast.query({ agent: "demo", prompt: "stream 150 100", cwd });
  for await (const event of asked) {
    if (event.type !== "text") continue;
    words.push(event.text.trim());
    if (words.length === 20) await home.killDaemon();
  }
  expect(words).toEqual(Array.from({ length: 150 }, (_, index) => String(index + 1)));
  expect((await asked.result).stopReason).toBe("completed");
  expect(await holdfast.sessions.list({ all: true })).toEqual([]);
});

test("an invalid query is refused before anything starts, with the reason", async () => {
  const { home, holdfast, cwd } = await begin();
  const wrong: [Partial<QueryOptions>, string][] = [
    [{ prompt: "" }, "the prompt is empty"],
    [{ prompt: " \n" }, "the prompt is empty"],
    [{ agent: "" }, "the query names no agent"],
    [{ session: "" }, "session is empty"],
    [{ session: "other", budget: { turns: 1 } }, "budget applies to a new session only, and other exists already"],
    [{ timeoutMs: 0 }, "timeoutMs is 0"],
    [{ timeoutMs: Number.NaN }, "timeoutMs is NaN"],
    [{ timeoutMs: 2 ** 31 }, "timeoutMs is 2147483648"],
    [{ budget: { turns: 1.5 } }, "the budget's turns are 1.5"],
    [{ budget: { cost: -1 } }, "the budget's cost is -1"],
    [{ budget: { euros: 3 } as object }, "a budget has no euros"],
  ];
  for (const [options, message] of wrong)
    expect(await failure(holdfast, { prompt: "say hello", agent: "demo", cwd, ...options }), message).toMatchObject({
      code: "usage",
      message,
    });
  expect(await home.json(["ls", "--all"])).toEqual([]);
});

test("a cost limit ends a query within its turn with an error that names it; nothing is left (mend 15)", async () => {
  const { home, holdfast, cwd } = await begin();
  const error = await failure(holdfast, { agent: "demo", cwd, prompt: "pay 0.2; pay 0.6; wait 10m", budget: { cost: 0.5 } });
  expect(error).toBeInstanceOf(BudgetExceeded);
  expect((error as Error).message).toContain("cost limit $0.50 reached ($0.60 used)");
  expect(await home.json(["ls", "--all"])).toEqual([]);
});

test("errors have distinct classes: time, tool, login, budget, crash, daemon, permission, rate (BG-14 together)", async () => {
  const { home, holdfast, cwd } = await begin();
  await scripted(home);
  const demo = { agent: "demo", cwd };
  const model = { agent: "model", cwd };
  const asked: Record<string, QueryOptions> = {
    timeout: { ...demo, prompt: "sleep 60000", timeoutMs: 3000 },
    tool: { ...demo, prompt: "read no/such.txt\nsay never mind", strict: true },
    login: { ...model, prompt: "error 401" },
    rate: { ...model, prompt: "error 429 retry-after 3600" },
    budget: { ...demo, prompt: "sleep 60000", budget: { minutes: 0.02 } },
    crash: { ...demo, prompt: "say so far\ncrash 3" },
    permission: { ...demo, prompt: "ask edit", strict: true, onApproval: () => "deny" },
    turn: { ...demo, prompt: "fail because of this" },
    agent: { agent: "no-such-agent", prompt: "hello", cwd },
  };
  const failures = Object.entries(asked).map(async ([what, options]) => [what, await failure(holdfast, options)] as const);
  const found: Record<string, unknown> = Object.fromEntries(await Promise.all(failures));
  const nowhere = query({ agent: "demo", prompt: "hello", cwd, home: path.join(home.root, "nowhere"), start: false });
  found.daemon = await nowhere.result.catch((error: unknown) => error);
  const classes = {
    timeout: Timeout,
    tool: ToolFailed,
    login: Unauthenticated,
    rate: RateLimited,
    budget: BudgetExceeded,
    crash: AgentCrashed,
    permission: PermissionRefused,
    daemon: DaemonUnreachable,
  };
  for (const [what, kind] of Object.entries(classes)) expect(found[what], what).toBeInstanceOf(kind);
  for (const error of Object.values(found)) expect(error).toBeInstanceOf(HoldfastError);
  expect(found.tool).toMatchObject({ code: "tool_failed", message: expect.stringContaining("no/such.txt") });
  expect(found.crash).toMatchObject({ code: "agent_crashed", message: expect.stringContaining("ended with 3") });
  expect(found.turn).toMatchObject({ code: "turn_failed", message: expect.stringContaining("because of this") });
  expect(found.agent).toMatchObject({ code: "agent_unknown" });
  // No error belongs to another class.
  for (const [what, kind] of Object.entries(classes))
    for (const [other, error] of Object.entries(found))
      if (other !== what) expect(error instanceof kind, `${other} as ${what}`).toBe(false);
  expect(await holdfast.sessions.list({ all: true })).toEqual([]);
});
