import { existsSync, mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Principal, SessionId } from "@holdfast/contract";
import { type Home, openHome } from "@holdfast/platform";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { type Policy, Pruning } from "./pruning.ts";

const ACTOR = "user:tester" as Principal;
const DAY = 86_400_000;
const KB = 1024;

/** Real files and a real journal; only the clock is the test's. */
class Bench {
  now = 20_000 * DAY;
  steps = 0;
  readonly home: Home;
  readonly journal: Journal;
  readonly queries: SessionQueries;
  readonly pruning: Pruning;
  #count = 0;

  constructor(policy: Policy) {
    const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
    onTestFinished(() => directory.remove());
    this.home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
    const db = openDatabase(":memory:");
    this.journal = new Journal({ db, projections: [sessionsProjection], machineName: "box", clock: () => this.now });
    this.queries = new SessionQueries(db);
    this.pruning = new Pruning({
      home: this.home,
      queries: this.queries,
      journal: this.journal,
      policy: { ...policy, everyMs: 3_600_000 },
      clock: { now: () => this.now, steps: () => this.steps },
      discard: (record, { why, bytes }) => {
        this.journal.append({ type: "session.removed", actor: ACTOR, session: record.id, data: { name: record.name, why, bytes } });
        rmSync(join(this.home.sessions, record.id), { recursive: true });
      },
    });
  }

  session(name: string, what: { bytes?: number; ended?: boolean; viewed?: boolean } = {}): SessionId {
    const { bytes = KB, ended = true, viewed = true } = what;
    const session = `aaaaaaaaa${"abcdefghijklmnopqrstuvwxyz"[this.#count++]}` as SessionId;
    const about = { actor: ACTOR, session };
    const common = { role: null, objective: null, host: "tmux", cwd: "/", command: ["sh"] } as const;
    this.journal.append(
      { ...about, type: "session.created", data: { ...common, command: ["sh"], name, kind: "shell", agent: "shell" } },
      { ...about, type: "session.started", data: { run: 1, pid: 1, pidStart: "x", outputPath: "/x" } },
    );
    const end = { run: 1, exit: { code: 0, signal: null }, cause: "exited", lastActivityAt: null, bytes } as const;
    if (ended) this.journal.append({ ...about, type: "session.ended", data: { ...end, endedAt: new Date(this.now).toISOString() } });
    if (ended && viewed) this.journal.append({ ...about, type: "session.viewed", data: { run: 1 } });
    const directory = join(this.home.sessions, session, "runs/1");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "output.000000"), "x".repeat(bytes));
    return session;
  }

  names(): string[] {
    return this.queries.select({ all: true }).map(({ name }) => name);
  }
}

test("sessions that ended before the policy's age are removed; running, unviewed and newer ones stay (BG-16 durability)", async () => {
  const bench = new Bench({ ageMs: 30 * DAY, conversationAgeMs: 30 * DAY, bytes: null });
  const old = bench.session("old");
  bench.session("old-unseen", { viewed: false });
  bench.session("old-running", { ended: false });
  bench.now += 31 * DAY;
  bench.session("young");
  const reply = await bench.pruning.ask({ dryRun: false, conversations: false }, ACTOR);
  expect(reply.removed).toMatchObject([{ name: "old", why: "age", bytes: KB }]);
  expect(reply.kept.map(({ name, why }) => [name, why])).toEqual([
    ["old-running", "running"],
    ["old-unseen", "unseen"],
    ["young", "policy"],
  ]);
  expect(bench.names()).toEqual(["old-unseen", "old-running", "young"]);
  expect(existsSync(join(bench.home.sessions, old))).toBe(false);
});

test("above the policy's size the first to end goes first, until the rest fits; unviewed sessions count and stay (BG-16 durability)", async () => {
  const bench = new Bench({ ageMs: null, conversationAgeMs: null, bytes: 25 * KB });
  bench.session("a", { bytes: 10 * KB });
  bench.session("unseen", { bytes: 10 * KB, viewed: false });
  bench.session("b", { bytes: 10 * KB });
  // The clock was set back: the last session to end has the oldest time, but is still the last.
  bench.now -= 5 * DAY;
  bench.session("c", { bytes: 10 * KB });
  bench.session("running", { bytes: 99 * KB, ended: false });
  await bench.pruning.look();
  expect(bench.names()).toHaveLength(5);
  await bench.pruning.look();
  expect(bench.names()).toEqual(["unseen", "c", "running"]);
  expect(bench.journal.readAfter(0, 100, { types: ["session.removed"] }).map(({ data }) => data)).toEqual([
    { name: "a", why: "size", bytes: 10 * KB },
    { name: "b", why: "size", bytes: 10 * KB },
  ]);
});

test("if unviewed sessions alone exceed the size, nothing is removed by size, unless a request demands it (BG-16 durability)", async () => {
  const bench = new Bench({ ageMs: null, conversationAgeMs: null, bytes: 25 * KB });
  bench.session("unseen", { bytes: 30 * KB, viewed: false });
  bench.session("seen", { bytes: 10 * KB });
  for (let look = 0; look < 3; look++) await bench.pruning.look();
  expect(bench.names()).toEqual(["unseen", "seen"]);
  expect((await bench.pruning.ask({ dryRun: true, conversations: false }, ACTOR)).removed).toEqual([]);
  const wished = await bench.pruning.ask({ dryRun: true, conversations: false, keepBytes: 5 * KB }, ACTOR);
  expect(wished.removed).toMatchObject([{ name: "seen", why: "size" }]);
});

test("a policy that is off removes nothing, however old and large", async () => {
  const bench = new Bench({ ageMs: null, conversationAgeMs: null, bytes: null });
  bench.session("old", { bytes: 1000 * KB });
  bench.now += 10_000 * DAY;
  for (let look = 0; look < 3; look++) await bench.pruning.look();
  expect(bench.names()).toEqual(["old"]);
});

test("the daemon removes by age only what was too old at two looks, without a step of the clock between them", async () => {
  const bench = new Bench({ ageMs: 30 * DAY, conversationAgeMs: 30 * DAY, bytes: null });
  bench.session("one");
  await bench.pruning.look();
  // The clock is set a year ahead by mistake, then back in two steps.
  for (const step of [365 * DAY, -60 * DAY, -305 * DAY]) {
    bench.now += step;
    bench.steps += step;
    await bench.pruning.look();
    expect(bench.names()).toEqual(["one"]);
  }
  await bench.pruning.look();
  expect(bench.names()).toEqual(["one"]);
  bench.now += 31 * DAY;
  await bench.pruning.look();
  expect(bench.names()).toEqual(["one"]);
  await bench.pruning.look();
  expect(bench.names()).toEqual([]);
});

test("a daemon that lives little longer than an hour prunes, but never before a second look an hour after the first", async () => {
  const bench = new Bench({ ageMs: 30 * DAY, conversationAgeMs: 30 * DAY, bytes: null });
  bench.session("one");
  bench.now += 31 * DAY;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  using pruning = bench.pruning;
  const look = vi.spyOn(pruning, "look");
  pruning.begin();
  vi.advanceTimersByTime(60_000);
  await look.mock.results[0]?.value;
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
  vi.advanceTimersByTime(3_599_000);
  expect(look).toHaveBeenCalledTimes(1);
  expect(bench.names()).toEqual(["one"]);
  vi.advanceTimersByTime(1000);
  await look.mock.results[1]?.value;
  expect(bench.names()).toEqual([]);
});

test("a dry run removes nothing; a request's limits replace the policy; only named sessions are removed", async () => {
  const bench = new Bench({ ageMs: 30 * DAY, conversationAgeMs: 30 * DAY, bytes: null });
  const [a, b] = [bench.session("a"), bench.session("b")];
  bench.now += 2 * DAY;
  expect((await bench.pruning.ask({ dryRun: true, conversations: false }, ACTOR)).removed).toEqual([]);
  const dry = await bench.pruning.ask({ dryRun: true, conversations: false, olderThanMs: DAY }, ACTOR);
  expect(dry).toMatchObject({ dryRun: true, policy: { olderThanMs: DAY, keepBytes: null }, removed: [{ id: a }, { id: b }] });
  expect(bench.names()).toEqual(["a", "b"]);
  const reply = await bench.pruning.ask({ dryRun: false, conversations: false, olderThanMs: DAY, only: [b] }, ACTOR);
  expect(reply).toMatchObject({ removed: [{ id: b }], kept: [{ id: a, why: "not_named" }] });
  expect(bench.names()).toEqual(["a"]);
});

test("a session that ended in the future, by a wrong clock, is not old", async () => {
  const bench = new Bench({ ageMs: 0, conversationAgeMs: 0, bytes: null });
  bench.session("future");
  bench.now -= 10 * DAY;
  expect((await bench.pruning.ask({ dryRun: true, conversations: false, olderThanMs: 0 }, ACTOR)).removed).toEqual([]);
});

test("events of a pruned session stay for the policy's age, and are then removed", async () => {
  const bench = new Bench({ ageMs: 30 * DAY, conversationAgeMs: 30 * DAY, bytes: null });
  const old = bench.session("old");
  bench.now += 31 * DAY;
  for (let look = 0; look < 2; look++) await bench.pruning.look();
  expect(bench.names()).toEqual([]);
  expect(bench.journal.readAfter(0, 100, { session: old })).toHaveLength(5);
  bench.now += 31 * DAY;
  await bench.pruning.look();
  expect(bench.journal.readAfter(0, 100).map(({ type }) => type)).toEqual(["journal.pruned"]);
});
