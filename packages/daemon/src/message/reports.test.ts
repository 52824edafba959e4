import type { EventData, EventType, Principal, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { PROJECTIONS } from "../projection/all.ts";
import { MessageQueries } from "../projection/messages.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { reportsFrom } from "./reports.ts";

const ME = "user:tester" as Principal;
const PARENT = "aaaaaaaaaa" as SessionId;
const CHILD = "bbbbbbbbbb" as SessionId;
const AT = "2026-11-15T12:00:00.000Z";

class Bench {
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: PROJECTIONS, machineName: "box" });
  readonly messages = new MessageQueries(this.db);

  constructor(child: { report?: boolean; restart?: "always" } = { report: true }) {
    this.journal.followWith(reportsFrom({ journal: this.journal, sessions: new SessionQueries(this.db), messages: this.messages }));
    const shape = { kind: "terminal", agent: "demo", role: null, objective: null, host: "native", cwd: "/" } as const;
    this.append(PARENT, "session.created", { name: "lead", command: ["x"], ...shape });
    this.append(CHILD, "session.created", { name: "worker", command: ["x"], ...shape, parent: PARENT, ...child });
    this.append(CHILD, "session.started", { run: 1, pid: 7, pidStart: "x", outputPath: "/out" });
  }

  append<T extends EventType>(session: SessionId, type: T, data: EventData<T>, actor = ME): void {
    this.journal.append({ type, actor, session, data } as Draft);
  }

  ended(exit = 0, ...more: Draft[]): void {
    const data = { run: 1, exit: { code: exit, signal: null }, cause: "exited" as const, endedAt: AT, lastActivityAt: null, bytes: 0 };
    this.journal.append({ type: "session.ended", actor: ME, session: CHILD, data }, ...more);
  }

  told(): string[] {
    return this.messages.list({ session: PARENT, limit: 100 }).map(({ text }) => text);
  }
}

const replied = { run: 1, turn: 1, toldAt: AT, reply: "forty-two", cut: false };

test("an answer is reported by a message from the child in the same transaction, once even if recorded twice", () => {
  const bench = new Bench();
  const { seq } = bench.journal.cursor;
  bench.append(CHILD, "session.replied", replied);
  bench.append(CHILD, "session.replied", replied);
  expect(bench.told()).toEqual(["Its answer at the end of turn 1:\n\nforty-two"]);
  expect(bench.messages.list({ session: PARENT, limit: 1 })).toMatchObject([{ from: `session:${CHILD}`, state: "queued" }]);
  bench.append(CHILD, "session.replied", { ...replied, turn: 2, cut: true });
  bench.append(CHILD, "session.turn_failed", { run: 1, turn: 3, toldAt: AT, why: "no credit" });
  expect(bench.told().slice(1)).toEqual([
    "Its answer at the end of turn 2:\n\nforty-two\n\n[The answer is cut off here.]",
    "Its turn 3 failed: no credit",
  ]);
  expect(bench.journal.readAfter(seq, 3).map(({ type }) => type)).toEqual(["session.replied", "message.queued", "session.replied"]);
});

test("a failed transaction leaves neither the event nor the message", () => {
  const bench = new Bench();
  const { seq } = bench.journal.cursor;
  const broken = { type: "message.queued", actor: ME, session: PARENT, data: { id: "x", text: null } } as unknown as Draft;
  const fact: Draft = { type: "session.replied", actor: ME, session: CHILD, data: replied };
  expect(() => bench.journal.append(fact, broken)).toThrow();
  expect([bench.told(), bench.journal.cursor.seq]).toEqual([[], seq]);
  bench.journal.append(fact);
  expect(bench.told()).toHaveLength(1);
});

test("the end is reported once no further run is due", () => {
  const bench = new Bench({ report: true, restart: "always" });
  bench.ended(1, {
    type: "session.restart_scheduled",
    actor: ME,
    session: CHILD,
    data: { run: 2, at: AT, quickEnds: 1 },
  });
  expect(bench.told()).toEqual([]);
  bench.append(CHILD, "session.restart_abandoned", { why: "crash_loop", quickEnds: 5 }, "daemon" as Principal);
  expect(bench.told()).toEqual(["It has ended: failed (exit 1). Read its output: holdfast logs worker"]);
  const other = new Bench();
  other.ended(0);
  expect(other.told()).toEqual(["It has ended: done (exit 0). Read its output: holdfast logs worker"]);
});

test("a parent that stopped its child gets no report; anybody else who did is named", () => {
  for (const [by, told] of [
    [`session:${PARENT}`, []],
    [ME, ["It has ended: stopped by user:tester. Read its output: holdfast logs worker"]],
  ] as const) {
    const bench = new Bench();
    bench.append(CHILD, "session.stop_requested", { run: 1, graceMs: 0 }, by as Principal);
    bench.append(CHILD, "session.turn_failed", { run: 1, turn: 1, toldAt: AT, why: "cut off" });
    const data = { run: 1, exit: null, cause: "stopped" as const, endedAt: AT, lastActivityAt: null, bytes: 0 };
    bench.append(CHILD, "session.ended", data);
    expect(bench.told()).toEqual(told);
  }
});

test("a child without reports sends none, and rebuilding tables leaves earlier reports unchanged", () => {
  const silent = new Bench({});
  silent.append(CHILD, "session.replied", replied);
  silent.ended();
  expect(silent.told()).toEqual([]);
  const bench = new Bench();
  bench.append(CHILD, "session.replied", replied);
  const before = bench.told();
  bench.journal.rebuild();
  expect(bench.told()).toEqual(before);
  bench.append(CHILD, "session.replied", { ...replied, turn: 2 });
  expect(bench.told()).toHaveLength(2);
});
