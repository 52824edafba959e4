import type { Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection, snapshotOf } from "../projection/sessions.ts";
import { TaskQueries, tasksProjection } from "../projection/tasks.ts";
import { Tasks } from "./tasks.ts";

const ACTOR = "user:tester" as Principal;
const ONE = "aaaaaaaaaa" as SessionId;
const TWO = "bbbbbbbbbb" as SessionId;
const ITEM = { title: "Write the tests", file: "/p/tasks.md", label: "1", turns: 2 };

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection, tasksProjection], machineName: "box" });
  for (const [session, name] of [
    [ONE, "one"],
    [TWO, "two"],
  ] as const) {
    const shape = { name, kind: "conversation", agent: "demo", role: null, objective: null, host: "native", cwd: "/", command: ["x"] };
    journal.append({ type: "session.created", actor: ACTOR, session, data: shape } as Draft);
  }
  const queries = new TaskQueries(db);
  return { db, journal, queries, tasks: new Tasks({ journal, queries }), sessions: new SessionQueries(db) };
}

const completed = (sessions: SessionQueries) => sessions.get(ONE)?.tasksCompleted;

test("a task is recorded from start to end, and counted when it is done (SYM-03 conversations)", () => {
  const { tasks, sessions } = open();
  const begun = tasks.start(ONE, ITEM, ACTOR);
  expect(begun).toMatchObject({ ...ITEM, session: ONE, name: "one", endedAt: null, outcome: null, why: null });
  expect(completed(sessions)).toBe(0);
  expect(tasks.end(begun.id, { outcome: "done", why: null }, ACTOR)).toMatchObject({ outcome: "done", endedAt: expect.any(String) });
  expect(completed(sessions)).toBe(1);
  const other = tasks.start(ONE, ITEM, ACTOR);
  expect(tasks.end(other.id, { outcome: "failed", why: "no key" }, ACTOR)).toMatchObject({ outcome: "failed", why: "no key" });
  expect(completed(sessions)).toBe(1);
});

test("an item started twice is one task; a task without a file may repeat the same text", () => {
  const { tasks } = open();
  const { id } = tasks.start(ONE, ITEM, ACTOR);
  expect(tasks.start(ONE, ITEM, ACTOR).id).toBe(id);
  expect(tasks.start(ONE, { ...ITEM, label: "2" }, ACTOR).id).not.toBe(id);
  expect(tasks.start(TWO, ITEM, ACTOR).id).not.toBe(id);
  tasks.end(id, { outcome: "failed", why: "no key" }, ACTOR);
  expect(tasks.start(ONE, ITEM, ACTOR).id).not.toBe(id);
  const spoken = { ...ITEM, file: null, label: null };
  expect(tasks.start(ONE, spoken, ACTOR).id).not.toBe(tasks.start(ONE, spoken, ACTOR).id);
});

test("a task that is ended twice has ended once", () => {
  const { tasks, journal, sessions } = open();
  const { id } = tasks.start(ONE, ITEM, ACTOR);
  tasks.end(id, { outcome: "done", why: null }, ACTOR);
  const { seq } = journal.cursor;
  expect(tasks.end(id, { outcome: "failed", why: "late" }, ACTOR)).toMatchObject({ outcome: "done", why: null });
  expect(journal.cursor.seq).toBe(seq);
  // A second end, as after a restore: only the first counts.
  journal.append({ type: "task.ended", actor: ACTOR, session: ONE, data: { id, outcome: "done", why: null } });
  expect(completed(sessions)).toBe(1);
});

test("tasks are listed by session, file, reach, and whether they have ended", () => {
  const { tasks } = open();
  const titles = (filter: Parameters<Tasks["list"]>[0]) => tasks.list(filter).map(({ title }) => title);
  const { id } = tasks.start(ONE, { ...ITEM, title: "a" }, ACTOR);
  tasks.start(ONE, { ...ITEM, title: "b", file: null, label: null }, ACTOR);
  tasks.start(TWO, { ...ITEM, title: "c" }, ACTOR);
  tasks.end(id, { outcome: "cancelled", why: null }, ACTOR);
  expect(titles({})).toEqual(["a", "b", "c"]);
  expect(titles({ session: ONE })).toEqual(["a", "b"]);
  expect(titles({ file: "/p/tasks.md" })).toEqual(["a", "c"]);
  expect(titles({ file: "/p/tasks.md", open: true })).toEqual(["c"]);
  expect(titles({ within: [TWO] })).toEqual(["c"]);
  expect(() => tasks.get("zzzzzzzzzz")).toThrow(expect.objectContaining({ code: "task_not_found" }));
});

test("a digest lists the tasks that started or ended after a journal position", () => {
  const { tasks, journal, queries } = open();
  const { id } = tasks.start(ONE, ITEM, ACTOR);
  const place = journal.cursor.seq;
  expect([queries.since(ONE, place), queries.lastAfter(ONE, place), queries.lastAfter(TWO, 0)]).toEqual([[], undefined, undefined]);
  tasks.end(id, { outcome: "done", why: null }, ACTOR);
  expect(queries.since(ONE, place)).toMatchObject([{ id, outcome: "done" }]);
  expect(queries.lastAfter(ONE, place)).toBe(journal.cursor.seq);
  expect(queries.since(ONE, journal.cursor.seq)).toEqual([]);
});

test("tasks rebuilt from the journal equal the live ones, even after a snapshot replaced old events, and are removed with their session", () => {
  const step = fc.constantFrom("start", "done", "failed", "prune", "remove");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const { db, journal, tasks, sessions } = open();
      const dump = () =>
        ["SELECT * FROM tasks ORDER BY id", "SELECT id, tasks_completed FROM sessions ORDER BY id"].map((sql) => db.prepare(sql).all());
      const options = { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, snapshot: snapshotOf, isThere: () => true, forget: () => {} };
      for (const each of steps) {
        const [begun] = tasks.list({ open: true });
        if (each === "prune") pruneEvents(journal, { ...options, mostOldEvents: 3 });
        else if (each === "remove") {
          if (sessions.get(TWO))
            journal.append({ type: "session.removed", actor: ACTOR, session: TWO, data: { name: "two", parent: null } } as Draft);
          expect(tasks.list({ session: TWO })).toEqual([]);
        } else if (each === "start") tasks.start(sessions.get(TWO) ? TWO : ONE, ITEM, ACTOR);
        else if (begun) tasks.end(begun.id, { outcome: each as "done" | "failed", why: null }, ACTOR);
      }
      const live = dump();
      journal.rebuild();
      expect(dump()).toEqual(live);
      db.close();
    }),
    { numRuns: 100 },
  );
});
