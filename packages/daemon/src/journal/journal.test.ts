import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Principal, SessionId } from "@holdfast/contract";
import { expect, test, vi } from "vitest";
import { openDatabase } from "./database.ts";
import { type Draft, Journal, type Projection } from "./journal.ts";

const ACTOR = "user:tester" as Principal;
const ONE = "aaaaaaaaaa" as SessionId;
const TWO = "bbbbbbbbbb" as SessionId;

function renamed(session: SessionId, name: string): Draft {
  return { type: "session.renamed", actor: ACTOR, session, data: { from: "before", name } };
}

function removed(session: SessionId): Draft {
  return { type: "session.removed", actor: ACTOR, session, data: { name: "gone" } };
}

/** Counts events in its own table, and throws at the name `boom`. */
const counting: Projection = {
  tables: ["counted"],
  apply(db, event) {
    db.exec("CREATE TABLE IF NOT EXISTS counted (seq INTEGER)");
    db.prepare("INSERT INTO counted VALUES (?)").run(event.seq);
    if (event.type === "session.renamed" && event.data.name === "boom") throw new Error("the projection failed");
  },
};

function open(db = openDatabase(":memory:"), clock?: () => number): { db: DatabaseSync; journal: Journal } {
  return { db, journal: new Journal({ db, projections: [counting], machineName: "box", ...(clock ? { clock } : {}) }) };
}

test("seq counts from 1 without gaps, however events are grouped", () => {
  const { journal } = open();
  expect(journal.cursor.seq).toBe(0);
  journal.append(renamed(ONE, "a"));
  journal.append(renamed(ONE, "b"), renamed(TWO, "c"));
  expect(journal.readAfter(0, 100).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(journal.cursor).toEqual({ epoch: journal.epoch, seq: 3 });
});

test("append returns the events that are read back", () => {
  const { journal } = open(undefined, () => Date.UTC(2026, 0, 2, 3, 4, 5, 6));
  const [event] = journal.append(renamed(ONE, 'quote " and 漢字 and \n'));
  expect(journal.readAfter(0, 1)).toEqual([event]);
  expect(event).toMatchObject({
    epoch: journal.epoch,
    machine: journal.machine,
    seq: 1,
    v: 1,
    at: "2026-01-02T03:04:05.006Z",
    actor: ACTOR,
    session: ONE,
  });
});

test("a projection that throws leaves no event, no row and no gap, including for events appended with it", () => {
  const { db, journal } = open();
  journal.append(renamed(ONE, "a"));
  expect(() => journal.append(renamed(ONE, "b"), renamed(ONE, "boom"), renamed(ONE, "c"))).toThrow("the projection failed");
  expect(journal.readAfter(0, 100)).toHaveLength(1);
  expect(journal.cursor.seq).toBe(1);
  journal.append(renamed(ONE, "d"));
  expect(journal.readAfter(0, 100).map(({ seq }) => seq)).toEqual([1, 2]);
  expect(db.prepare("SELECT seq FROM counted ORDER BY seq").all()).toEqual([{ seq: 1 }, { seq: 2 }]);
});

test("readAfter starts after the cursor, respects the limit, and filters by session and type", () => {
  const { journal } = open();
  journal.append(renamed(ONE, "a"), renamed(TWO, "b"), removed(ONE), removed(TWO), renamed(ONE, "c"));
  const seqs = (...args: Parameters<Journal["readAfter"]>) => journal.readAfter(...args).map(({ seq }) => seq);
  expect(seqs(2, 100)).toEqual([3, 4, 5]);
  expect(seqs(0, 2)).toEqual([1, 2]);
  expect(seqs(5, 100)).toEqual([]);
  expect(seqs(0, 100, { session: ONE })).toEqual([1, 3, 5]);
  expect(seqs(0, 100, { types: ["session.removed"] })).toEqual([3, 4]);
  expect(seqs(1, 1, { session: ONE, types: ["session.renamed", "session.removed"] })).toEqual([3]);
  expect(seqs(0, 100, { types: [] })).toEqual([]);
});

test("a cursor of another epoch or beyond the end is refused; a cursor without an epoch means the current one", () => {
  const { journal } = open();
  journal.append(renamed(ONE, "a"), renamed(ONE, "b"));
  expect(journal.resolveCursor({ epoch: undefined, seq: 1 })).toEqual({ epoch: journal.epoch, seq: 1 });
  expect(journal.resolveCursor({ epoch: journal.epoch, seq: 2 }).seq).toBe(2);
  expect(journal.resolveCursor({ epoch: journal.epoch, seq: 0 }).seq).toBe(0);
  expect(() => journal.resolveCursor({ epoch: "other", seq: 1 })).toThrow(expect.objectContaining({ code: "cursor_gone" }));
  expect(() => journal.resolveCursor({ epoch: undefined, seq: 3 })).toThrow(expect.objectContaining({ code: "cursor_gone" }));
});

test("changed returns at once if there is more, wakes on an append, and ends with the signal", async () => {
  const { journal } = open();
  const { signal } = new AbortController();
  journal.append(renamed(ONE, "a"));
  await journal.changed(0, signal);

  let woken = 0;
  const waiting = [1, 2, 3].map(() => journal.changed(1, signal).then(() => woken++));
  await Promise.resolve();
  expect(woken).toBe(0);
  journal.append(renamed(ONE, "b"));
  await Promise.all(waiting);

  const stop = new AbortController();
  const aborted = journal.changed(2, stop.signal);
  stop.abort();
  await aborted;
  await journal.changed(2, stop.signal);
});

test("a wait leaves no listener on its signal", async () => {
  const { journal } = open();
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, "addEventListener");
  const remove = vi.spyOn(signal, "removeEventListener");
  for (let i = 0; i < 50; i++) {
    const waiting = journal.changed(i, signal);
    journal.append(renamed(ONE, "a"));
    await waiting;
  }
  expect(add).toHaveBeenCalledTimes(50);
  expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
});

test("a failed append wakes no listener", async () => {
  const { journal } = open();
  const stop = new AbortController();
  let woken = false;
  const waiting = journal.changed(0, stop.signal).then(() => {
    woken = true;
  });
  expect(() => journal.append(renamed(ONE, "boom"))).toThrow();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(woken).toBe(false);
  stop.abort();
  await waiting;
});

test("a reopened journal continues in the same epoch, on the same machine, with the next seq", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(directory.path, "holdfast.db");
  const first = open(openDatabase(path));
  first.journal.append(renamed(ONE, "a"), renamed(ONE, "b"));
  first.db.close();

  const second = new Journal({ db: openDatabase(path), projections: [], machineName: "renamed-box" });
  expect([second.epoch, second.machine]).toEqual([first.journal.epoch, first.journal.machine]);
  second.append(renamed(ONE, "c"));
  expect(second.readAfter(0, 100).map(({ seq, epoch }) => [seq, epoch])).toEqual([1, 2, 3].map((seq) => [seq, first.journal.epoch]));
});

test("appended events survive a process that never closed the database", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const path = join(directory.path, "holdfast.db");
  open(openDatabase(path)).journal.append(renamed(ONE, "a"));
  const reader = new DatabaseSync(path, { readOnly: true });
  expect(reader.prepare("SELECT count(*) AS n FROM events").get()).toEqual({ n: 1 });
  reader.close();
});

test("a cursor of an earlier epoch continues if its event still exists, and is refused otherwise", () => {
  const { db, journal } = open();
  journal.append(renamed(ONE, "a"), renamed(ONE, "b"));
  const { epoch } = journal;
  db.exec("UPDATE meta SET value = 'another1' WHERE key = 'epoch'");
  const restored = open(db).journal;
  restored.append(renamed(ONE, "c"));
  expect(restored.resolveCursor({ epoch, seq: 2 })).toEqual({ epoch: "another1", seq: 2 });
  expect(restored.resolveCursor({ epoch: "another1", seq: 3 })).toEqual({ epoch: "another1", seq: 3 });
  expect(() => restored.resolveCursor({ epoch, seq: 3 })).toThrow(expect.objectContaining({ code: "cursor_gone" }));
  expect(() => restored.resolveCursor({ epoch, seq: 0 })).toThrow(expect.objectContaining({ code: "cursor_gone" }));
});

test("an event that does not fit on the disk is owed, and written before the next event, without a gap", () => {
  const { db, journal } = open();
  journal.append(renamed(ONE, "a"));
  const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
  db.exec(`PRAGMA max_page_count = ${pages}`);
  const large = "x".repeat(100_000);
  expect(() => journal.append(renamed(ONE, large))).toThrow("full");
  journal.note(renamed(ONE, large));
  journal.note(removed(TWO));
  expect(journal.owes(ONE, "session.renamed")).toBe(true);
  expect(journal.owes(ONE, "session.removed")).toBe(false);
  expect(() => journal.settle()).toThrow("full");
  expect(journal.cursor.seq).toBe(1);

  db.exec("PRAGMA max_page_count = 1000");
  expect(journal.append(renamed(TWO, "last"))).toMatchObject([{ seq: 4, data: { name: "last" } }]);
  expect(journal.owes(ONE, "session.renamed")).toBe(false);
  journal.settle();
  expect(journal.readAfter(0, 10).map(({ seq, type, session }) => [seq, type, session])).toEqual([
    [1, "session.renamed", ONE],
    [2, "session.renamed", ONE],
    [3, "session.removed", TWO],
    [4, "session.renamed", TWO],
  ]);
});

test("an event refused for another reason is not owed", () => {
  const { journal } = open();
  expect(() => journal.note(renamed(ONE, "boom"))).toThrow("the projection failed");
  expect(journal.owes(ONE, "session.renamed")).toBe(false);
});
