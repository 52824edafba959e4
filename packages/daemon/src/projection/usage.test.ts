import type { Principal, SessionId, UsageRecord } from "@holdfast/contract";
import { EVENTS } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { sessionsProjection, snapshotOf } from "./sessions.ts";
import { turnsProjection } from "./turns.ts";
import { UsageQueries, usageDraft, usageProjection } from "./usage.ts";

const ACTOR = "user:tester" as Principal;
const SESSION = "aaaaaaaaaa" as SessionId;
const OTHER = "bbbbbbbbbb" as SessionId;
const DAY = 86_400_000;

function open() {
  const db = openDatabase(":memory:");
  let now = Date.parse("2026-11-15T05:00:00.000Z");
  const journal = new Journal({
    db,
    projections: [sessionsProjection, turnsProjection, usageProjection],
    machineName: "box",
    clock: () => now,
  });
  const create = (session: SessionId, name: string) => {
    const shape = { name, kind: "terminal", agent: "demo", role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
    journal.append({ type: "session.created", actor: ACTOR, session, data: shape } as Draft);
  };
  create(SESSION, "api");
  const pass = (ms: number) => {
    now += ms;
  };
  const prune = (mostOldEvents?: number) =>
    pruneEvents(journal, {
      before: new Date(now - DAY).toISOString(),
      actor: ACTOR,
      snapshot: (each, id) => snapshotOf(each, id),
      isThere: (id) => db.prepare("SELECT 1 FROM sessions WHERE id = ?").get(id) !== undefined,
      forget: () => {},
      ...(mostOldEvents === undefined ? {} : { mostOldEvents }),
    });
  const tables = () => [db.prepare("SELECT * FROM usage").all(), db.prepare("SELECT * FROM usage_places").all()];
  return { db, journal, usage: new UsageQueries(db), create, pass, prune, tables };
}

function used(more: Partial<UsageRecord> & { at?: string; read?: { place: string; state: string } } = {}, session = SESSION): Draft {
  const usage = { run: 1, turn: "1", model: "demo", input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: null, context: null };
  const record = { ...usage, source: "transcript", key: null, ...more } as UsageRecord;
  return usageDraft({ id: session, name: session === SESSION ? "api" : "web", agent: "demo" }, record);
}

function removed(session: SessionId): Draft {
  return { type: "session.removed", actor: ACTOR, session, data: { name: "api" } };
}

test("usage is read back as reported, and unknown values stay unknown", () => {
  const { journal, usage } = open();
  const draft = used({ input: null, cost: 0.25, context: { used: 10, size: 100 }, at: "2026-11-14T23:00:00.000Z" });
  expect(EVENTS["usage.recorded"].parse(draft.data)).toEqual(draft.data);
  journal.append(draft);
  expect(usage.facts({})).toEqual([
    {
      seq: 2,
      session: SESSION,
      name: "api",
      agent: "demo",
      run: 1,
      turn: "1",
      model: "demo",
      at: "2026-11-14T23:00:00.000Z",
      input: null,
      output: 5,
      cacheRead: 0,
      cacheWrite: 0,
      cost: 0.25,
      context: { used: 10, size: 100 },
      groups: [],
    },
  ]);
  expect(usage.lastSeq(SESSION)).toBe(2);
  expect(usage.lastSeq(OTHER)).toBe(0);
});

test("usage reported twice with the same key is counted once; another session's key is separate", () => {
  const { journal, usage, create } = open();
  create(OTHER, "web");
  journal.append(used({ key: "msg_1" }), used({ key: "msg_1", input: 99 }), used({ key: "msg_1" }, OTHER), used(), used());
  expect(usage.facts({ session: SESSION }).map(({ input }) => input)).toEqual([10, 10, 10]);
  expect(usage.facts({ session: OTHER })).toHaveLength(1);
  expect([usage.has(SESSION, "msg_1"), usage.has(SESSION, "msg_2")]).toEqual([true, false]);
});

test("facts are filtered by session, journal position, time and reach", () => {
  const { journal, usage, create } = open();
  create(OTHER, "web");
  journal.append(used({ at: "2026-11-01T00:00:00.000Z" }), used({ input: 2 }), used({ input: 3 }, OTHER));
  const inputs = (filter: Parameters<UsageQueries["facts"]>[0]) => usage.facts(filter).map(({ input }) => input);
  expect(inputs({ since: "2026-11-02T00:00:00.000Z" })).toEqual([2, 3]);
  expect(inputs({ after: 3 })).toEqual([2, 3]);
  expect(inputs({ within: [OTHER] })).toEqual([3]);
  expect(inputs({ within: [] })).toEqual([]);
});

test("usage shows a session's current name; for a removed session, its name at that time", () => {
  const { journal, usage } = open();
  journal.append(used(), { type: "session.renamed", actor: ACTOR, session: SESSION, data: { from: "api", name: "api-2" } });
  expect(usage.facts({})[0]?.name).toBe("api-2");
  journal.append(removed(SESSION));
  expect(usage.facts({})[0]?.name).toBe("api");
});

test("usage outlives its session and the pruning of its events, and is rebuilt from the rest", () => {
  const { journal, usage, pass, prune, tables } = open();
  journal.append(used({ read: { place: "/a", state: "1" } }), used({ input: 7 }), removed(SESSION));
  pass(40 * DAY);
  while (prune());
  expect(journal.readAfter(0, 100).map(({ type }) => type)).toEqual(["usage.recorded", "usage.recorded", "journal.pruned"]);
  const before = tables();
  journal.rebuild();
  expect(tables()).toEqual(before);
  expect(usage.facts({ session: SESSION }).map(({ input }) => input)).toEqual([10, 7]);
  expect(usage.stateOf(SESSION, "/a")).toBeUndefined();
});

test("the read position of a source stays until its session is removed, even after a snapshot replaced old events", () => {
  const { journal, usage, pass, prune, tables } = open();
  for (let i = 1; i <= 5; i++) journal.append(used({ read: { place: i < 5 ? "/a" : "/b", state: String(i) } }));
  for (let i = 0; i < 20; i++)
    journal.append({ type: "session.renamed", actor: ACTOR, session: SESSION, data: { from: "x", name: `api-${i}` } });
  pass(40 * DAY);
  while (prune(10));
  expect([usage.stateOf(SESSION, "/a"), usage.stateOf(SESSION, "/b")]).toEqual(["4", "5"]);
  const before = tables();
  journal.rebuild();
  expect(tables()).toEqual(before);
  expect(usage.facts({})).toHaveLength(5);
  journal.append(removed(SESSION));
  expect(usage.stateOf(SESSION, "/a")).toBeUndefined();
});

test("many kept events alone do not make a session crowded", () => {
  const { journal, pass, prune } = open();
  for (let i = 0; i < 30; i++) journal.append(used());
  pass(40 * DAY);
  expect(prune(10)).toBe(false);
});

test("a time belongs to its turn; between two turns to the second, after all to the last", () => {
  const { journal, usage } = open();
  const status = (turn: "working" | "idle", since: string) =>
    ({
      type: "session.status_changed",
      actor: ACTOR,
      session: SESSION,
      data: {
        run: 1,
        status: turn,
        since,
        sinceBoot: null,
        turn,
        attention: null,
        background: null,
        hung: false,
        evidence: [],
        turnBegan: turn === "working",
      },
    }) as Draft;
  expect(usage.turnAt(SESSION, null)).toBeUndefined();
  journal.append(status("working", "2026-11-15T05:00:10.000Z"), status("idle", "2026-11-15T05:00:20.000Z"));
  journal.append(status("working", "2026-11-15T05:00:30.000Z"));
  const turnAt = (second: number | null) => usage.turnAt(SESSION, second === null ? null : `2026-11-15T05:00:${second}.000Z`)?.turn;
  expect([turnAt(15), turnAt(20), turnAt(25), turnAt(31), turnAt(null)]).toEqual(["1", "1", "2", "2", "2"]);
  expect(usage.turnAt(SESSION, "2026-11-15T05:00:05.000Z")).toEqual({ turn: "1", run: 1 });
  journal.append(status("idle", "2026-11-15T05:00:40.000Z"));
  expect([turnAt(35), turnAt(50), turnAt(null)]).toEqual(["2", "2", "2"]);
});
