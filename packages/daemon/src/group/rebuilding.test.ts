import type { HoldfastError, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GroupBench, ME } from "../../test/groups.ts";
import { openDatabase } from "../journal/database.ts";

const PATHS = ["team", "team/a", "team/a/b", "other"];
const KEYS = ["one", "two", "three"];

type Step = { do: number; path: number; who: number; key: number };

const step = fc.record({ do: fc.nat(13), path: fc.nat(PATHS.length - 1), who: fc.nat(3), key: fc.nat(KEYS.length - 1) });

/** Errors of a refused step are ignored: only its effect counts. */
function take(bench: GroupBench, ids: SessionId[], { do: what, path: p, who, key: k }: Step): void {
  const [path = "", id = "" as SessionId, key = ""] = [PATHS[p], ids[who], KEYS[k]];
  const { run, endedAt = null } = bench.sessions.get(id) ?? {};
  const steps = [
    () => bench.groups.join(path, [id], { actor: ME }),
    () => bench.groups.join(path, ids, { actor: ME }),
    () => bench.groups.leave(path, id, ME),
    () => bench.groups.setCoordinator(path, id, ME),
    () => bench.values.share(path, key, { value: { who }, actor: ME }),
    () => bench.values.share(path, key, { value: bench.journal.cursor.seq, actor: ME }),
    () => bench.values.unset(path, key, { actor: ME }),
    () => bench.groups.remove(path, { force: true, actor: ME }),
    () => bench.groups.setLimit(path, who + 4, ME),
    () => run !== undefined && endedAt === null && bench.end(id, { run }),
    () => run !== undefined && endedAt !== null && bench.resume(id, run + 1),
    () => run !== undefined && bench.remove(id),
    () => {
      bench.pass(6);
      bench.prune({ mostOldEvents: 3 });
    },
    () => {
      const what = { why: "asked", what: "x", from: "b", epoch: "e", at: "", lost: null } as never;
      bench.journal.append({ type: "journal.restored", actor: ME, session: null, data: what });
    },
  ];
  try {
    steps[what]?.();
  } catch (error) {
    if ((error as HoldfastError).code === undefined || (error as HoldfastError).code === "internal") throw error;
  }
  bench.coordination.look();
}

test("group tables rebuilt from the journal equal the live ones after any steps and any pruning", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      const bench = new GroupBench();
      const ids = ["a", "b", "c", "d"].map((name) => bench.session(name));
      for (const each of steps) take(bench, ids, each);
      const live = bench.tables();
      bench.journal.rebuild();
      expect(bench.tables()).toEqual(live);
    }),
    { numRuns: 150 },
  );
});

test("pruning removes old versions of a value and keeps the newest of each key, and revisions are never reused", () => {
  const bench = new GroupBench();
  bench.groups.create("team", { actor: ME });
  bench.groups.create("gone", { actor: ME });
  for (let i = 1; i <= 5; i++) bench.values.share("team", "goal", { value: i, actor: ME });
  bench.values.share("team", "note", { value: "x", actor: ME });
  bench.values.unset("team", "note", { actor: ME });
  bench.values.share("gone", "goal", { value: 1, actor: ME });
  bench.groups.remove("gone", { force: true, actor: ME });
  bench.pass(5);
  bench.prune();
  expect(bench.events("group.value_shared")).toHaveLength(7);
  bench.pass(6);
  bench.prune();
  expect(bench.events("group.value_shared")).toMatchObject([{ key: "goal", value: 5, revision: 5 }]);
  expect(bench.events("group.value_unset")).toHaveLength(1);
  bench.journal.rebuild();
  expect(bench.values.get("team", "goal")).toMatchObject({ value: 5, revision: 5 });
  bench.groups.create("gone", { actor: ME });
  expect([bench.queries.revision("team"), bench.values.share("gone", "goal", { value: 2, actor: ME }).revision]).toEqual([7, 2]);
});

test("a removed session is in no group, and membership survives the pruning of old events", () => {
  const bench = new GroupBench();
  const [a, b] = [bench.session("a"), bench.session("b")];
  bench.groups.join("team", [a, b], { actor: ME });
  bench.end(a);
  bench.coordination.look();
  bench.remove(a);
  expect(bench.names("team")).toEqual(["b"]);
  for (let run = 1; run < 5; run++) {
    bench.end(b, { run });
    bench.resume(b, run + 1);
  }
  bench.pass(20);
  bench.prune({ mostOldEvents: 3 });
  expect(bench.journal.readAfter(0, 1000).map(({ type }) => type)).toContain("session.snapshot");
  expect(bench.events("group.joined")).toEqual([]);
  const live = bench.tables();
  bench.journal.rebuild();
  expect(bench.tables()).toEqual(live);
  expect(bench.groups.get("team")).toMatchObject({ coordinator: { name: "b" }, members: [{ name: "b", ended: false }] });
});

test("after a restore no revision is reused for another value", () => {
  const bench = new GroupBench();
  bench.groups.create("team", { actor: ME });
  bench.values.share("team", "goal", { value: 1, actor: ME });
  bench.journal.append({ type: "journal.restored", actor: ME, session: null, data: {} as never });
  expect(bench.values.get("team", "goal").revision).toBe(1);
  expect(bench.values.share("team", "goal", { value: 2, ifRevision: 1, actor: ME }).revision).toBeGreaterThan(1_000_000);
});

test("pruning finds values through an index", () => {
  const db = openDatabase(":memory:");
  const plan = db
    .prepare(
      "EXPLAIN QUERY PLAN SELECT 1 FROM events l WHERE l.type IN ('group.value_shared', 'group.value_unset') AND l.seq > ? AND json_extract(l.data, '$.group') = ? AND json_extract(l.data, '$.key') = ?",
    )
    .all()
    .map(({ detail }) => String(detail));
  expect(plan.join()).toContain("events_of_values");
});
