import type { Principal, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { type Draft, Journal } from "./journal.ts";
import { pruneEvents } from "./prune.ts";

const ACTOR = "user:tester" as Principal;
const GONE = "aaaaaaaaaa" as SessionId;
const THERE = "bbbbbbbbbb" as SessionId;
const DAY = 86_400_000;

function renamed(session: SessionId): Draft {
  return { type: "session.renamed", actor: ACTOR, session, data: { from: "before", name: "name" } };
}

function removed(session: SessionId): Draft {
  return { type: "session.removed", actor: ACTOR, session, data: { name: "name" } };
}

const daemonStarted: Draft = { type: "daemon.started", actor: ACTOR, session: null, data: { pid: 1, version: "1", node: "n" } };

class Bench {
  now = 100 * DAY;
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: [], machineName: "box", clock: () => this.now });
  readonly forgotten: string[] = [];
  readonly there = new Set<string>();

  /** Events older than ten days. */
  prune(mostOldEvents = 1000): boolean {
    return pruneEvents(this.journal, {
      before: new Date(this.now - 10 * DAY).toISOString(),
      actor: ACTOR,
      snapshot: (_, session) => ({ session: { id: session }, runs: [] }),
      isThere: (session) => this.there.has(session),
      forget: (session) => this.forgotten.push(session),
      mostOldEvents,
    });
  }

  types(): string[] {
    return this.journal.readAfter(0, 1000).map(({ type, session }) => `${type} ${session ?? ""}`.trim());
  }
}

test("pruning deletes every event of a session removed long ago, and none of an existing session", () => {
  const bench = new Bench();
  bench.journal.append(daemonStarted, renamed(GONE), renamed(THERE), removed(GONE));
  bench.now += 5 * DAY;
  expect(bench.prune()).toBe(false);
  expect(bench.journal.cursor.seq).toBe(4);
  bench.now += 6 * DAY;
  bench.journal.append(daemonStarted);
  expect(bench.prune()).toBe(true);
  expect(bench.prune()).toBe(false);
  expect(bench.types()).toEqual([`session.renamed ${THERE}`, "daemon.started", "journal.pruned"]);
  expect(bench.journal.readAfter(5, 1)[0]?.data).toMatchObject({ events: 3, sessions: 1, upTo: 4 });
  expect(bench.forgotten).toEqual([GONE]);
});

test("a recently removed session keeps its events, including old ones", () => {
  const bench = new Bench();
  bench.journal.append(renamed(GONE));
  bench.now += 30 * DAY;
  bench.journal.append(removed(GONE));
  expect(bench.prune()).toBe(false);
  expect(bench.types()).toHaveLength(2);
});

test("a session that was removed and adopted again keeps all its events", () => {
  const bench = new Bench();
  bench.journal.append(renamed(GONE), removed(GONE), renamed(GONE));
  bench.there.add(GONE);
  bench.now += 20 * DAY;
  expect(bench.prune()).toBe(false);
  expect([bench.types().length, bench.forgotten]).toEqual([3, []]);
});

test("many old events of an existing session are replaced by one snapshot; later events stay", () => {
  const bench = new Bench();
  for (let i = 0; i < 20; i++) bench.journal.append(renamed(THERE));
  bench.now += 20 * DAY;
  bench.journal.append(renamed(THERE));
  while (bench.prune(10));
  expect(bench.types()).toEqual([`session.renamed ${THERE}`, `session.snapshot ${THERE}`, "journal.pruned"]);
});

test("numbers are not reused, and a cursor that would miss pruned events is refused", () => {
  const bench = new Bench();
  bench.journal.append(renamed(THERE), renamed(GONE), removed(GONE));
  bench.now += 20 * DAY;
  while (bench.prune());
  expect(bench.journal.cursor.seq).toBe(4);
  expect(new Journal({ db: bench.db, projections: [], machineName: "box" }).cursor.seq).toBe(4);
  for (const seq of [1, 2])
    expect(() => bench.journal.resolveCursor({ epoch: undefined, seq })).toThrow(expect.objectContaining({ code: "cursor_gone" }));
  for (const seq of [0, 3, 4]) expect(bench.journal.resolveCursor({ epoch: undefined, seq }).seq).toBe(seq);
});

test("a failed step deletes nothing", () => {
  const bench = new Bench();
  for (let i = 0; i < 5; i++) bench.journal.append(renamed(THERE));
  bench.now += 20 * DAY;
  const options = {
    before: new Date(bench.now).toISOString(),
    actor: ACTOR,
    snapshot: () => {
      throw new Error("no");
    },
    isThere: () => true,
    forget: () => {},
    mostOldEvents: 1,
  };
  expect(() => pruneEvents(bench.journal, options)).toThrow("no");
  expect(bench.types()).toHaveLength(5);
  expect(bench.journal.cursor.seq).toBe(5);
});
