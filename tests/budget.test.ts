import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Message, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs, tokenOf } from "./as-session.ts";
import { eventually, TestHome } from "./home.ts";

/** An idle demo agent. */
async function demo(home: TestHome, name: string, flags: string[], ...args: string[]): Promise<Session> {
  await home.ok(["spawn", "demo", "--name", name, ...flags, "--", "--fast", ...args]);
  return home.until(name, ({ status }) => status === "idle");
}

async function facts(home: TestHome): Promise<[type: string, data: Record<string, unknown>][]> {
  const lines = (await home.ok(["events", "--type", "budget.warned,budget.exceeded,budget.changed"])).trim().split("\n");
  return lines.filter(Boolean).map((line) => {
    const { type, data } = JSON.parse(line) as AnyEvent;
    return [type, data];
  });
}

function stopped(home: TestHome, name: string): Promise<Session> {
  return home.until(name, ({ status, budget }) => status === "stopped" && budget?.exceeded != null);
}

function configure(home: TestHome, text: string): void {
  const file = path.join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test("a session is warned once near its turn limit and stopped after the last turn, and every command names the limit (BG-09 conversations)", async () => {
  await using home = new TestHome();
  const began = await demo(home, "api", ["--budget", "turns=5,minutes=30"]);
  expect(began.budget).toMatchObject({
    limits: [
      { limit: "turns", allowed: 5, used: 0 },
      { limit: "minutes", allowed: 30, used: expect.any(Number) },
    ],
    exceeded: null,
  });
  for (let turn = 1; turn <= 4; turn++) await home.ok(["send", "api", `turn ${turn}`, "--wait"]);
  await eventually(async () => (await facts(home)).length === 1 || undefined);
  expect(await facts(home)).toEqual([["budget.warned", { run: 1, limit: "turns", used: 4, allowed: 5 }]]);
  expect((await home.session("api")).status).toBe("idle");
  // The fifth turn may complete.
  expect(await home.ok(["send", "api", "say the last words", "--wait"])).toContain("the last words");
  const session = await stopped(home, "api");
  expect(session).toMatchObject({
    cause: "stopped",
    budget: { exceeded: { limit: "turns", used: 5, allowed: 5, at: expect.any(String) } },
  });
  expect(await facts(home)).toHaveLength(2);
  expect((await facts(home))[1]).toEqual(["budget.exceeded", { run: 1, limit: "turns", used: 5, allowed: 5 }]);
  expect(await home.ok(["show", "api"])).toMatch(
    /budget +5 of 5 turns, [\d.]+ of 30 minutes\n +turn limit 5 reached \(5 used\); allow more: holdfast resume api --budget turns=…/,
  );
  expect(await home.ok(["ls", "--all"])).toMatch(/stopped \(budget: turn limit 5 reached \(5 used\)\)/);
  expect(await home.ok(["explain", "api"])).toMatch(/budget +turn limit 5 reached \(5 used\); allow more/);
});

test("a session with a used-up budget resumes only with a larger one, which is kept, and keeps its count", async () => {
  await using home = new TestHome();
  await demo(home, "api", ["--budget", "turns=1,minutes=60"]);
  await home.ok(["send", "api", "hello", "--wait"]);
  await stopped(home, "api");
  const refused = await home.cli(["resume", "api"]);
  expect(refused).toMatchObject({ code: 35, stderr: expect.stringContaining("api has used up its budget: turn limit 1 reached (1 used)") });
  expect(refused.stderr).toContain("holdfast resume api --budget turns=2");
  expect((await home.cli(["resume", "api", "--budget", "minutes=90"])).code).toBe(35);
  await home.ok(["resume", "api", "--budget", "turns=3"]);
  const resumed = await home.until("api", ({ status }) => status === "idle");
  expect(resumed.budget).toMatchObject({ limits: [{ limit: "turns", allowed: 3, used: 1 }, { limit: "minutes" }], exceeded: null });
  await home.ok(["send", "api", "again", "--wait"]);
  await home.killDaemon();
  await home.ok(["send", "api", "and again", "--wait"]);
  expect(await stopped(home, "api")).toMatchObject({ budget: { exceeded: { used: 3, allowed: 3 } } });
  await home.ok(["resume", "api", "--budget", "turns=off"]);
  expect((await home.session("api")).budget?.limits).toMatchObject([{ limit: "minutes", allowed: 60 }]);
});

test("at a token or cost limit the running turn is interrupted, then the run ends cleanly", async () => {
  await using home = new TestHome();
  configure(home, '[[approvals.rules]]\ntool = "Bash"\ndecision = "allow"\n');
  const usage = ["--usage", "model=claude-opus-4-5,input=100000,output=1000"];
  await demo(home, "tokens", ["--budget", "tokens=150k"], ...usage);
  await demo(home, "cost", ["--budget", "cost=1.00"], ...usage);
  // The model is called before each tool: the second call exceeds both limits.
  for (const name of ["tokens", "cost"]) await home.ok(["send", name, "tool shell true; tool shell true; wait 10m"]);
  const [tokens, cost] = [await stopped(home, "tokens"), await stopped(home, "cost")];
  expect(tokens.budget?.exceeded).toMatchObject({ limit: "tokens", used: 202_000, allowed: 150_000 });
  expect(cost.budget?.exceeded).toMatchObject({ limit: "cost", used: 1.05, allowed: 1 });
  for (const { name, durationMs, exit } of [tokens, cost]) {
    expect(await home.ok(["logs", name])).toContain("Interrupted");
    expect(exit).toEqual({ code: 143, signal: null });
    expect(durationMs).toBeLessThan(30_000);
  }
});

test("minutes count the time of all runs together, and limit commands too", async () => {
  await using home = new TestHome();
  const session = await home.run("sleep 600", "--name", "long", "--budget", "minutes=0.05");
  expect(session.budget?.limits).toMatchObject([{ limit: "minutes", allowed: 0.05 }]);
  const ended = await stopped(home, "long");
  expect(ended.budget?.exceeded).toMatchObject({ limit: "minutes", allowed: 0.05 });
  expect(ended.durationMs).toBeGreaterThanOrEqual(3000);
  expect(ended.durationMs).toBeLessThan(8000);
  expect((await facts(home)).map(([type, { limit }]) => `${type} ${limit}`)).toEqual(["budget.warned minutes", "budget.exceeded minutes"]);
  await home.ok(["resume", "long", "--budget", "minutes=0.1"]);
  const again = await stopped(home, "long");
  expect(again.runs).toBe(2);
  expect(again.durationMs).toBeLessThan(6000);
});

test("a conversation obeys its budget like a terminal agent: its turn is cancelled, its run ends", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "slow", "--budget", "minutes=0.05", "--prompt", "say a; wait 10m; say b"]);
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--budget", "tokens=1000"]);
  await home.ok(["send", "talk", "usage 1500 20; say hello", "--wait"]);
  expect(await stopped(home, "talk")).toMatchObject({
    spent: { input: 1500, output: 20 },
    budget: { exceeded: { limit: "tokens", used: 1520 } },
  });
  expect(await stopped(home, "slow")).toMatchObject({ turns: 1, budget: { exceeded: { limit: "minutes" } } });
  const ends = (await home.ok(["events", "--type", "turn.ended", "--session", "slow"])).trim().split("\n");
  expect(ends.map((line) => (JSON.parse(line) as AnyEvent).data.reason)).toEqual(["cancelled"]);
});

test("a token or cost limit cancels a conversation's running turn; the transcript shows the limit and the earlier warning (mend 15)", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.ok([
    "spawn",
    "--chat",
    "demo",
    "--name",
    "cost",
    "--budget",
    "cost=1.00",
    "--prompt",
    `pay 0.85; until ${go}; pay 1.02; wait 10m`,
  ]);
  await home.ok([
    "spawn",
    "--chat",
    "demo",
    "--name",
    "tokens",
    "--budget",
    "tokens=1000",
    "--prompt",
    "spend 500 20; spend 600 30; wait 10m",
  ]);
  const near = "budget: 85 % of the cost limit used ($0.85 of $1.00)";
  await eventually(async () => (await home.ok(["transcript", "cost"])).includes(near) || undefined);
  // Usage is also known during the turn.
  expect((await home.session("cost")).spent).toMatchObject({ cost: 0.85 });
  writeFileSync(go, "");
  const [cost, tokens] = [await stopped(home, "cost"), await stopped(home, "tokens")];
  expect(cost.budget?.exceeded).toMatchObject({ limit: "cost", used: 1.02, allowed: 1 });
  expect(tokens.budget?.exceeded).toMatchObject({ limit: "tokens", allowed: 1000 });
  // Usage counts even if the turn was cancelled.
  expect([cost.spent?.cost, tokens.spent?.input]).toEqual([1.02, 1100]);
  const said = await home.ok(["transcript", "cost"]);
  expect(said).toMatch(/budget: cost limit \$1\.00 reached \(\$1\.02 used\)\n.*the turn ended: cancelled/);
  expect(said.split(near)).toHaveLength(2);
  expect(await home.ok(["ls", "--all"])).toMatch(/cost .*stopped \(budget: cost limit \$1\.00 reached \(\$1\.02 used\)\)/);
  const once = await home.cli(["chat", "demo", "--budget", "cost=0.5", "-p", "pay 0.45; pay 0.6; wait 10m"]);
  expect(once).toMatchObject({ code: 35, stderr: expect.stringContaining("cost limit $0.50 reached ($0.60 used)") });
});

test("chat -p names the limit that its turn exceeded, and the one that is near (mend 15)", async () => {
  await using home = new TestHome();
  const once = (budget: string, words: string) => home.cli(["chat", "demo", "--budget", budget, "-p", words]);
  expect(await once("tokens=1000", "usage 1500 20; say hello")).toMatchObject({
    code: 35,
    stdout: expect.stringContaining("hello"),
    stderr: expect.stringMatching(/has used up its budget: token limit 1k reached \(1\.5k used\)[\s\S]*--budget tokens=…/),
  });
  expect(await once("tokens=1000", "usage 850 20; say hello")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("budget: 87 % of the token limit used (870 of 1k tokens)"),
  });
  // The last turn that a turn limit allows ends normally.
  expect(await once("turns=1", "say hello")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("budget: turn limit 1 reached (1 used)"),
  });
});

test("a terminal agent learns about a near limit once, with the next message (mend 15)", async () => {
  await using home = new TestHome();
  await demo(home, "api", ["--budget", "turns=5"]);
  for (let turn = 1; turn <= 4; turn++) await home.ok(["send", "api", `say turn ${turn}`, "--wait"]);
  await eventually(async () => (await facts(home)).length === 1 || undefined);
  // The warning alone is not typed: that would be a turn.
  expect(await home.session("api")).toMatchObject({ status: "idle", turns: 4 });
  expect(await home.ok(["ls"])).toContain("budget 80 %");
  const go = path.join(home.root, "go");
  await home.ok(["send", "api", `until ${go}`]);
  await home.ok(["send", "api", "say one too many"]);
  const told = (await home.json<Message[]>(["messages", "api"])).map(({ addition }) => addition);
  const words = "[Holdfast: 80 % of the turn limit used (4 of 5 turns). At the limit this session is stopped.";
  expect(told.map((addition) => addition?.includes(words) ?? false)).toEqual([false, false, false, false, true, false]);
  writeFileSync(go, "");
  await stopped(home, "api");
  expect(await home.ok(["logs", "api"])).toContain("of the turn limit used");
});

test("a session's usage counts toward its ancestors, and their limit ends the session too (mend 15)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "top", "--budget", "cost=1.00"]);
  await home.ok(["spawn", "--chat", "demo", "--name", "other", "--budget", "cost=1.00"]);
  const env = { HOLDFAST_TOKEN: await tokenOf(home, "top") };
  const child = (name: string, prompt: string) => home.ok(["spawn", "--chat", "demo", "--name", name, "--prompt", prompt], { env });
  await home.ok(["send", "top", "pay 0.1", "--wait"]);
  await child("first", "pay 0.3");
  const { spentWithChildren } = await home.until("top", (session) => session.spentWithChildren?.cost === 0.4);
  expect(spentWithChildren).toMatchObject({ cost: 0.4 });
  expect((await home.session("top")).spent).toMatchObject({ cost: 0.1 });
  expect((await home.session("top")).budget?.limits).toEqual([{ limit: "cost", allowed: 1, used: 0.4, own: 0.1 }]);
  expect(await home.ok(["show", "top"])).toMatch(/budget +\$0\.40 of \$1\.00 \(own: \$0\.10\)/);
  // A removed session still counts.
  await home.ok(["stop", "first"]);
  await home.ok(["rm", "first"]);
  expect((await home.session("top")).budget?.limits).toMatchObject([{ used: 0.4, own: 0.1 }]);
  await child("second", "pay 0.65; wait 10m");
  expect(await stopped(home, "top")).toMatchObject({ budget: { exceeded: { limit: "cost", used: 1.05, allowed: 1 } } });
  expect((await stopped(home, "second")).budget?.exceeded).toMatchObject({ limit: "cost", of: { name: "top" } });
  expect(await home.ok(["transcript", "second"])).toContain("budget of top: cost limit $1.00 reached ($1.05 used)");
  expect(await home.cli(["resume", "second"])).toMatchObject({
    code: 35,
    stderr: expect.stringContaining("the budget of top is used up: cost limit $1.00 reached ($1.05 used)"),
  });
  await home.ok(["resume", "top", "--budget", "cost=3"]);
  await home.ok(["resume", "second"]);
  expect((await home.session("second")).budget).toBeNull();
  expect((await home.session("other")).budget?.exceeded).toBeNull();
});

test("a waiting message starts no turn beyond the budget and gets the reason, even after a daemon kill (BG-09 conversations)", async () => {
  await using home = new TestHome();
  await demo(home, "typed", ["--budget", "turns=1"]);
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--budget", "turns=1"]);
  await home.ok(["spawn", "--chat", "demo", "--name", "spends", "--budget", "tokens=1000"]);
  await home.until("talk", ({ status }) => status === "idle");
  await home.until("spends", ({ status }) => status === "idle");
  using client = home.client();
  const say = (ref: string, text: string) => client.call("sendMessage", { params: { ref }, body: { text } });
  const go = path.join(home.root, "go");
  await say("typed", `until ${go}`);
  await say("talk", `until ${go}; say one`);
  await say("spends", `usage 1500 20; until ${go}; say one`);
  for (const name of ["typed", "talk", "spends"]) await home.until(name, ({ status }) => status === "working");
  for (const name of ["typed", "talk", "spends"]) await say(name, "say two");
  process.kill((await home.json<{ pid: number }>(["status"])).pid, "SIGKILL");
  writeFileSync(go, "");
  for (const name of ["typed", "talk", "spends"]) {
    expect(await stopped(home, name)).toMatchObject({ turns: 1 });
    const [, second] = await home.json<Message[]>(["messages", name]);
    expect(second).toMatchObject({
      text: "say two",
      state: "failed",
      why: expect.stringMatching(/budget is used up: (?:turn|token) limit \S+ reached \(\S+ used\)/),
    });
  }
});

test("a restart policy starts no run beyond the budget", async () => {
  await using home = new TestHome();
  await home.run("sleep 2; exit 1", "--name", "flaky", "--restart", "always", "--budget", "minutes=0.02");
  const session = await stopped(home, "flaky");
  expect(session).toMatchObject({ runs: 1, restartAt: null });
  await demo(home, "api", ["--restart", "always", "--budget", "turns=1"]);
  await home.ok(["send", "api", "say bye", "--wait"]);
  await stopped(home, "api");
  // The command exits exactly at the limit.
  await home.run("exit 1", "--name", "quick", "--restart", "on-failure", "--budget", "minutes=0.000001");
  const quick = await home.until(
    "quick",
    ({ endedAt, restartAt, budget }) => endedAt !== null && restartAt === null && budget?.exceeded != null,
  );
  expect(quick.runs).toBe(1);
});

test("the next daemon enforces a limit exceeded while no daemon ran", async () => {
  await using home = new TestHome();
  const began = performance.now();
  await home.run("sleep 600", "--name", "long", "--budget", "minutes=0.05");
  await home.ok(["down"]);
  await eventually(() => performance.now() - began > 4000);
  await home.ok(["up"]);
  expect(await stopped(home, "long")).toMatchObject({ cause: "stopped", budget: { exceeded: { limit: "minutes" } } });
});

test("after journal loss the budget and usage are read from the session's and agent's files", async () => {
  await using home = new TestHome();
  await demo(home, "api", ["--budget", "turns=1,cost=5"], "--usage", "model=claude-opus-4-5,input=1000,output=0");
  await home.ok(["send", "api", "hello", "--wait"]);
  await stopped(home, "api");
  await home.ok(["backup", "create"]);
  await home.ok(["resume", "api", "--budget", "turns=4"]);
  await home.until("api", ({ status }) => status === "idle");
  const database = path.join(home.path, "holdfast.db");
  for (const backups of ["kept", "gone"]) {
    await home.ok(["down"]);
    for (const suffix of ["-wal", "-shm"]) rmSync(database + suffix, { force: true });
    writeFileSync(database, "not a database");
    if (backups === "gone") rmSync(path.join(home.path, "backups"), { recursive: true });
    const session = await home.until("api", ({ spent }) => spent !== null);
    expect(session).toMatchObject({ runs: 2, spent: { input: 1000, cost: 0.005 } });
    expect(session.budget?.limits.map(({ limit, allowed }) => `${limit}=${allowed}`)).toEqual(["turns=4", "cost=5"]);
  }
});

test("config.toml sets budgets for all agents and for each; commands get none from it, and a flag wins", async () => {
  await using home = new TestHome();
  configure(home, '[budget]\nturns = 50\ntokens = "2M"\ncost = 10\n[agents.demo.budget]\nturns = 7\n');
  const limits = async (name: string) => (await home.session(name)).budget?.limits.map(({ limit, allowed }) => `${limit}=${allowed}`);
  await demo(home, "usual", []);
  expect(await limits("usual")).toEqual(["turns=7", "tokens=2000000", "cost=10"]);
  await demo(home, "asked", ["--budget", "turns=9,cost=off,minutes=5"]);
  expect(await limits("asked")).toEqual(["turns=9", "minutes=5", "tokens=2000000"]);
  await home.run("sleep 60", "--name", "command");
  expect((await home.session("command")).budget).toBeNull();
  await home.ok(["down", "--all"]);
  configure(home, '[budget]\nturns = "many"\n');
  expect(await home.cli(["up"])).toMatchObject({ code: 2, stderr: expect.stringContaining('budget.turns is not a limit: "many"') });
  configure(home, "");
});

test("an unenforceable or invalid limit is refused", async () => {
  await using home = new TestHome();
  const command = await home.cli(["run", "--budget", "turns=3", "--", "true"]);
  expect(command).toMatchObject({ code: 2, stderr: expect.stringContaining("shell does not report its turns") });
  expect(command.stderr).toContain("minutes");
  for (const budget of ["", "turns", "turns=0", "turns=1.5", "weight=3", "tokens=lots"]) {
    const refused = await home.cli(["spawn", "demo", "--budget", budget]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--budget ")]);
  }
  expect(await home.json<Session[]>(["ls", "--all"])).toEqual([]);
});

test("a session may change the budget of its children, but not its own (mend 15)", async () => {
  await using home = new TestHome();
  const parent = await home.run("sleep 600", "--name", "parent", "--budget", "minutes=5");
  using client = await clientAs(home, "parent");
  await expect(client.call("setBudget", { params: { ref: parent.id }, body: { minutes: 500 } })).rejects.toMatchObject({
    code: "forbidden",
  });
  await client.call("spawn", { body: { agent: "shell", name: "child", command: ["sleep", "600"], budget: { minutes: 5 } } });
  const { budget } = await client.call("setBudget", { params: { ref: "child" }, body: { minutes: 3 } });
  expect(budget?.limits).toMatchObject([{ limit: "minutes", allowed: 3 }]);
  expect((await home.session("parent")).budget?.limits).toMatchObject([{ limit: "minutes", allowed: 5 }]);
});
