import type { Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { lookOf, looksProjection } from "./looks.ts";
import { sessionsProjection, snapshotOf } from "./sessions.ts";
import { TurnQueries, turnsProjection } from "./turns.ts";

const ACTOR = "user:tester" as Principal;
const SESSION = "aaaaaaaaaa" as SessionId;

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection, turnsProjection, looksProjection], machineName: "box" });
  const shape = { name: "api", kind: "terminal", agent: "demo", role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
  journal.append({ type: "session.created", actor: ACTOR, session: SESSION, data: shape } as Draft);
  return { db, journal, turns: new TurnQueries(db) };
}

/** Returns a time at the given second of one minute. */
function time(second: number): string {
  return `2026-11-15T05:00:${String(second).padStart(2, "0")}.000Z`;
}

function status(turn: "working" | "idle", second: number, more: { began?: boolean; limit?: string } = {}): Draft {
  const attention = more.limit === undefined ? null : { for: "rate_limit", text: more.limit, until: null };
  const data = { run: 1, status: turn, since: time(second), sinceBoot: null, turn, attention, background: null, hung: false, evidence: [] };
  return { type: "session.status_changed", actor: ACTOR, session: SESSION, data: { ...data, turnBegan: more.began ?? false } } as Draft;
}

function replied(run: number, reply: string): Draft {
  const data = { run, turn: 1, toldAt: time(1), reply, cut: false };
  return { type: "session.replied", actor: ACTOR, session: SESSION, data };
}

const since = (turns: TurnQueries, seq: number) => turns.since(SESSION, { seq, at: time(0), list: 50 });

test("turns since a journal position are those that started or ended after it, with their duration", () => {
  const { journal, turns } = open();
  journal.append(status("working", 1, { began: true }), status("idle", 4));
  const place = journal.cursor.seq;
  expect(since(turns, 0)).toMatchObject({ began: 1, ended: 1, workedMs: 3000 });
  expect(since(turns, place)).toMatchObject({ began: 0, ended: 0, workedMs: 0, list: [] });
  journal.append(status("working", 10, { began: true }), status("idle", 15));
  expect(since(turns, place)).toMatchObject({
    began: 1,
    ended: 1,
    workedMs: 5000,
    list: [{ turn: 2, beganAt: time(10), endedAt: time(15) }],
  });
});

test("a turn that only seemed to be over continues; the next turn or the end of the run ends it", () => {
  const { journal, turns } = open();
  journal.append(status("working", 1, { began: true }), status("idle", 2), status("working", 3));
  expect(since(turns, 0)).toMatchObject({ began: 1, ended: 0, list: [{ endedAt: null }] });
  journal.append(status("working", 5, { began: true }));
  expect(since(turns, 0)).toMatchObject({ began: 2, ended: 1 });
  const end = { run: 1, exit: null, cause: "lost", endedAt: time(9), lastActivityAt: null, bytes: null } as const;
  journal.append({ type: "session.ended", actor: ACTOR, session: SESSION, data: end });
  expect(since(turns, 0)).toMatchObject({ began: 2, ended: 2, workedMs: 8000 });
});

test("a rate limit belongs to the turn that hit it, and is news until it is seen", () => {
  const { journal, turns } = open();
  journal.append(status("working", 1, { began: true }), status("idle", 2, { limit: "resets at 9" }));
  const place = journal.cursor.seq;
  expect(since(turns, 0).limits).toMatchObject([{ text: "resets at 9" }]);
  expect(since(turns, place).limits).toEqual([]);
});

test("a session keeps its newest thousand turns and the replies of its newest twenty runs", () => {
  const { db, journal, turns } = open();
  for (let turn = 0; turn < 1100; turn++) journal.append(status("working", 1, { began: true }), status("idle", 2));
  for (let run = 1; run <= 30; run++) journal.append(replied(run, `of run ${run}`));
  expect(db.prepare("SELECT count(*) AS n, min(turn) AS first FROM turns").get()).toEqual({ n: 1000, first: 101 });
  expect(db.prepare("SELECT count(*) AS n FROM replies").get()).toEqual({ n: 20 });
  expect(turns.lastReply(SESSION)).toMatchObject({ run: 30, reply: "of run 30" });
});

test("turns, replies and looks rebuilt from the journal equal the live ones, even after a snapshot replaced old events", () => {
  const looked = (who: string): Draft => ({
    type: "session.looked_at",
    actor: `user:${who}` as Principal,
    session: SESSION,
    data: { upTo: 1, head: "a".repeat(40) },
  });
  const failed: Draft = {
    type: "session.turn_failed",
    actor: ACTOR,
    session: SESSION,
    data: { run: 1, turn: 1, toldAt: time(1), why: "no" },
  };
  const step = fc.constantFrom<Draft | "prune">(
    status("working", 1, { began: true }),
    status("working", 2),
    status("idle", 3),
    status("idle", 4, { limit: "resets at 9" }),
    replied(1, "one"),
    replied(2, "two"),
    looked("me"),
    looked("you"),
    failed,
    "prune",
  );
  const tables = ["turns", "replies", "looks"];
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const { db, journal } = open();
      const dump = () => tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
      const options = { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, snapshot: snapshotOf, isThere: () => true, forget: () => {} };
      for (const each of steps) {
        if (each === "prune") pruneEvents(journal, { ...options, mostOldEvents: 3 });
        else journal.append(each);
      }
      const live = dump();
      journal.rebuild();
      expect(dump()).toEqual(live);
      db.close();
    }),
    { numRuns: 150 },
  );
});

test("removing a session removes its turns, replies and looks", () => {
  const { db, journal, turns } = open();
  journal.append(status("working", 1, { began: true }), replied(1, "one"), {
    type: "session.looked_at",
    actor: ACTOR,
    session: SESSION,
    data: { upTo: 3, head: null },
  });
  expect(lookOf(db, SESSION, ACTOR)).toMatchObject({ upTo: 3, head: null });
  journal.append({ type: "session.removed", actor: ACTOR, session: SESSION, data: { name: "api" } });
  expect([lookOf(db, SESSION, ACTOR), turns.lastReply(SESSION), since(turns, 0).list]).toEqual([undefined, undefined, []]);
});
