import { setImmediate as breathe } from "node:timers/promises";
import { type Budget, HoldfastError, type Principal, type Session, type SessionId } from "@holdfast/contract";
import { afterEach, expect, test, vi } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { turnsProjection } from "../projection/turns.ts";
import { type BudgetRooms, Budgets } from "./budgets.ts";

const ACTOR = "user:tester" as Principal;
const SESSION = "aaaaaaaaaa" as SessionId;
const NO_SPENT = {
  turns: 1,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  unknownTokens: 0,
  cost: null,
  unknownCosts: 0,
  estimated: false,
  context: null,
};

afterEach(() => vi.useRealTimers());

class Bench {
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: [sessionsProjection, turnsProjection], machineName: "box" });
  readonly queries = new SessionQueries(this.db);
  readonly done: string[] = [];
  readonly told: string[] = [];
  spent: Session["spent"] = null;

  create(budget: Budget | undefined, startedAt = new Date().toISOString()): void {
    const shape = { name: "api", kind: "terminal", agent: "demo", role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
    const started = { run: 1, pid: 7, pidStart: "x-1", outputPath: "/out", startedAt };
    this.journal.append(
      { type: "session.created", actor: ACTOR, session: SESSION, data: { ...shape, budget } } as Draft,
      { type: "session.started", actor: ACTOR, session: SESSION, data: started } as Draft,
    );
  }

  open(more: Partial<BudgetRooms> = {}): Budgets {
    return new Budgets({
      journal: this.journal,
      sessions: this.queries,
      spent: () => this.spent,
      withChildren: () => null,
      tell: async (_, { text }) => void this.told.push(text),
      read: async () => void this.done.push("read"),
      interrupt: async () => {
        this.done.push("interrupt");
        this.journal.append(status("idle"));
      },
      stop: async () => {
        this.done.push("stop");
        this.journal.append(ended("stopped"));
      },
      ...more,
    });
  }

  use(spent: Partial<NonNullable<Session["spent"]>>): void {
    this.spent = { ...NO_SPENT, ...spent };
    // The content of the event does not matter here.
    this.journal.append({ type: "usage.recorded", actor: ACTOR, session: SESSION, data: {} } as unknown as Draft);
  }

  facts(): string[] {
    return this.journal
      .readAfter(0, 100, { types: ["budget.warned", "budget.exceeded"] })
      .map(({ type, data }) => `${type.slice(7)} ${data.limit} ${data.used}/${data.allowed}`);
  }

  record() {
    return this.queries.resolve(SESSION);
  }
}

function status(turn: "working" | "idle", began = turn === "working"): Draft {
  const since = new Date().toISOString();
  const data = { run: 1, status: turn, since, sinceBoot: null, turn, attention: null, background: null, hung: false, evidence: [] };
  return { type: "session.status_changed", actor: ACTOR, session: SESSION, data: { ...data, turnBegan: began } } as Draft;
}

function ended(cause: "stopped" | "exited", durationMs: number | null = 1000): Draft {
  const data = {
    run: 1,
    exit: { code: 1, signal: null },
    cause,
    endedAt: new Date().toISOString(),
    lastActivityAt: null,
    bytes: 0,
    durationMs,
  };
  return { type: "session.ended", actor: ACTOR, session: SESSION, data } as Draft;
}

async function calm(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await breathe();
}

test("four fifths of a limit warn once; the full limit interrupts the turn, stops the run and is reported once", async () => {
  const bench = new Bench();
  bench.create({ tokens: 100 });
  using budgets = bench.open();
  budgets.begin();
  bench.journal.append(status("working"));
  bench.use({ input: 79 });
  await calm();
  expect(bench.facts()).toEqual([]);
  bench.use({ input: 80 });
  bench.use({ input: 85 });
  await calm();
  expect(bench.facts()).toEqual(["warned tokens 85/100"]);
  expect(bench.done).toEqual([]);
  bench.use({ input: 100, cacheRead: 1e6 });
  await calm();
  expect(bench.facts()).toEqual(["warned tokens 85/100", "exceeded tokens 100/100"]);
  expect(bench.told).toEqual(["budget: 85 % of the token limit used (85 of 100 tokens)", "budget: token limit 100 reached (100 used)"]);
  expect(bench.done).toEqual(["interrupt", "stop"]);
  expect(budgets.budget(bench.record())).toMatchObject({
    limits: [{ limit: "tokens", allowed: 100, used: 100 }],
    exceeded: { limit: "tokens", used: 100, allowed: 100 },
  });
});

test("an idle session is stopped without an interrupt; a session without a budget continues", async () => {
  const bench = new Bench();
  bench.create({ cost: 1 });
  using budgets = bench.open();
  budgets.begin();
  bench.journal.append(status("idle"));
  bench.use({ cost: 1.25 });
  await calm();
  expect([bench.done, bench.facts()]).toEqual([["stop"], ["exceeded cost 1.25/1"]]);
  const other = new Bench();
  other.create(undefined);
  using none = other.open();
  none.begin();
  other.use({ cost: 1000 });
  await calm();
  expect([other.done, other.facts(), none.budget(other.record())]).toEqual([[], [], null]);
});

test("an unknown cost never reaches its limit, and is shown as unknown", async () => {
  const bench = new Bench();
  bench.create({ cost: 1 });
  using budgets = bench.open();
  budgets.begin();
  bench.use({ input: 1e9, unknownCosts: 3, estimated: false });
  await calm();
  expect(bench.facts()).toEqual([]);
  expect(budgets.budget(bench.record())?.limits).toEqual([{ limit: "cost", allowed: 1, used: null, own: null }]);
  expect(budgets.refusal(bench.record(), { cost: 1 })).toBeUndefined();
});

test("an agent that ignores the interrupt, or cannot be interrupted, is stopped anyway", async () => {
  for (const interrupt of [async () => {}, () => Promise.reject(new HoldfastError("not_offered", "no way"))]) {
    const bench = new Bench();
    bench.create({ tokens: 1 });
    using budgets = bench.open({ interrupt, interruptMs: 20 });
    budgets.begin();
    bench.journal.append(status("working"));
    bench.use({ input: 5 });
    await vi.waitFor(() => expect(bench.done).toEqual(["stop"]));
  }
});

test("a failed stop is retried at the next event; a running or requested stop is not repeated", async () => {
  const bench = new Bench();
  bench.create({ tokens: 1 });
  const outcomes = [new HoldfastError("stop_incomplete", "still there"), new HoldfastError("session_ended", "it has")];
  using budgets = bench.open({
    stop: async () => {
      bench.done.push("stop");
      const failed = outcomes.shift();
      if (failed) throw failed;
    },
  });
  budgets.begin();
  for (const count of [1, 2]) {
    bench.use({ input: 5 });
    await calm();
    expect(bench.done).toHaveLength(count);
  }
  bench.journal.append({ type: "session.stop_requested", actor: ACTOR, session: SESSION, data: { run: 1, graceMs: 0 } } as Draft);
  bench.use({ input: 6 });
  await calm();
  expect(bench.done).toHaveLength(2);
  expect(bench.facts()).toEqual(["exceeded tokens 5/1"]);
});

test("a limit passed while no daemon ran is enforced when the daemon starts", async () => {
  const bench = new Bench();
  bench.create({ minutes: 10 }, new Date(Date.now() - 3_600_000).toISOString());
  using budgets = bench.open();
  budgets.begin();
  await calm();
  expect(bench.done).toEqual(["stop"]);
  expect(bench.facts()).toEqual([expect.stringMatching(/^exceeded minutes 60(\.\d+)?\/10$/)]);
});

test("a proposed limit is larger than the usage (mend 15)", () => {
  const bench = new Bench();
  bench.create({ tokens: 1000 });
  using budgets = bench.open();
  const proposed = (budget: Budget) => budgets.refusal(bench.record(), budget)?.hint?.match(/--budget (\S+);/)?.[1];
  bench.spent = { ...NO_SPENT, input: 3900 };
  expect(proposed({ tokens: 1000 })).toBe("tokens=4900");
  bench.spent = { ...NO_SPENT, input: 12_345 };
  expect(proposed({ tokens: 10_000 })).toBe("tokens=23k");
  bench.spent = { ...NO_SPENT, cost: 3.333 };
  expect(proposed({ cost: 1.5 })).toBe("cost=4.84");
});

test("after a run that ended beyond a limit there is no restart", async () => {
  const bench = new Bench();
  bench.create({ minutes: 1 });
  using budgets = bench.open();
  budgets.begin();
  bench.journal.append(ended("exited", 90_000), {
    type: "session.restart_scheduled",
    actor: ACTOR,
    session: SESSION,
    data: { run: 2, at: new Date().toISOString(), quickEnds: 0 },
  } as Draft);
  expect(budgets.refusal(bench.record(), { minutes: 1 })?.code).toBe("budget_spent");
  await calm();
  expect([bench.facts(), bench.done]).toEqual([["exceeded minutes 1.5/1"], ["stop"]]);
});

test("a timer checks minutes when they are due, and runs only while there is such a limit", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const bench = new Bench();
  bench.create(undefined);
  using budgets = bench.open();
  budgets.begin();
  expect(vi.getTimerCount()).toBe(0);
  bench.journal.append({ type: "budget.changed", actor: ACTOR, session: SESSION, data: { budget: { minutes: 1 } } });
  await calm();
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(47_900);
  expect(bench.facts()).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(bench.facts()).toEqual([expect.stringMatching(/^warned minutes 0\.8\d*\/1$/)]);
  await vi.advanceTimersByTimeAsync(12_100);
  await calm();
  expect([bench.facts().length, bench.done]).toEqual([2, ["stop"]]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a limit of minutes is enforced even if another session's event comes just before the late timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const bench = new Bench();
  bench.create({ minutes: 1 });
  using budgets = bench.open();
  budgets.begin();
  // The clock advances but the timer does not fire, as in a busy daemon.
  vi.setSystemTime(Date.now() + 61_000);
  bench.journal.append({ ...status("working"), session: "bbbbbbbbbb" as SessionId } as Draft);
  await calm();
  await vi.advanceTimersByTimeAsync(100);
  await calm();
  expect([bench.facts().length, bench.done]).toEqual([1, ["stop"]]);
});

test("a session that could not be stopped at its limit is stopped later", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const bench = new Bench();
  bench.create({ minutes: 1 }, new Date(Date.now() - 120_000).toISOString());
  let tries = 0;
  using budgets = bench.open({
    lookMs: 1000,
    stop: async () => {
      tries += 1;
      if (tries === 1) throw new Error("its host does not answer");
      bench.journal.append(ended("stopped"));
    },
  });
  budgets.begin();
  await calm();
  expect(tries).toBe(1);
  await vi.advanceTimersByTimeAsync(1100);
  await calm();
  expect([tries, bench.facts().length]).toEqual([2, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

test("the usage of a working agent with a limit of tokens or cost is read periodically", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const bench = new Bench();
  bench.create({ cost: 5 });
  using budgets = bench.open({ lookMs: 1000 });
  budgets.begin();
  expect(vi.getTimerCount()).toBe(0);
  bench.journal.append(status("working"));
  await calm();
  await vi.advanceTimersByTimeAsync(2100);
  expect(bench.done).toEqual(["read", "read"]);
  bench.journal.append(status("idle"));
  await calm();
  expect(vi.getTimerCount()).toBe(0);
});

test("a session may continue with a limit above its usage, but not equal to it", () => {
  const bench = new Bench();
  bench.create({ turns: 2 });
  using budgets = bench.open();
  bench.journal.append(status("working"), status("idle"), status("working"), status("idle"));
  const refusal = (budget: Budget | null) => budgets.refusal(bench.record(), budget);
  expect(refusal({ turns: 2 })).toMatchObject({
    code: "budget_spent",
    message: "api has used up its budget: turn limit 2 reached (2 used)",
    hint: "raise the limit: holdfast resume api --budget turns=4; or remove it: --budget turns=off",
  });
  bench.spent = { ...NO_SPENT, input: 200_000 };
  expect(refusal({ turns: 3, tokens: 200_000 })?.hint).toContain("tokens=400k");
  expect([refusal({ turns: 3 }), refusal({}), refusal(null)]).toEqual([undefined, undefined, undefined]);
  expect(budgets.spent(bench.record())).toBe(bench.spent);
});
