import type { AnyEvent, Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { type Draft, type EventFilter, Journal } from "./journal.ts";

const ACTOR = "user:tester" as Principal;
const SESSIONS = ["aaaaaaaaaa", "bbbbbbbbbb"] as SessionId[];

function draft(number: number, chars: number): Draft {
  const session = SESSIONS[number % 2] as SessionId;
  const said = { actor: ACTOR, session };
  if (number % 3 === 0) return { ...said, type: "session.removed", data: { name: "x".repeat(chars) } };
  return { ...said, type: "session.renamed", data: { from: "before", name: "x".repeat(chars), more: undefined } } as Draft;
}

test("events read from memory equal those read from disk, however many were appended, and after pruning", () => {
  const filter: fc.Arbitrary<EventFilter> = fc.record(
    {
      session: fc.constantFrom(...SESSIONS),
      types: fc.subarray(["session.renamed", "session.removed"]),
      byOthers: fc.boolean(),
      within: fc.constant(() => SESSIONS.slice(0, 1)),
    },
    { requiredKeys: [] },
  );
  const step = fc.record({
    append: fc.integer({ min: 0, max: 300 }),
    chars: fc.constantFrom(1, 100, 3000),
    prune: fc.nat(40),
    back: fc.nat(1500),
    limit: fc.integer({ min: 1, max: 2000 }),
    filter,
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const db = openDatabase(":memory:");
      const journal = new Journal({ db, projections: [], machineName: "box" });
      for (const { append, chars, prune, back, limit, filter } of steps) {
        if (append > 0) journal.append(...Array.from({ length: append }, (_, number) => draft(number, chars)));
        if (prune === 0) journal.rewrite(() => forgetHalf(db, journal.cursor.seq));
        const stored = new Journal({ db, projections: [], machineName: "box" });
        const seq = Math.max(0, journal.cursor.seq - back);
        expect(journal.readAfter(seq, limit, filter)).toEqual(stored.readAfter(seq, limit, filter));
      }
      db.close();
    }),
    { numRuns: 40 },
  );
});

function forgetHalf(db: ReturnType<typeof openDatabase>, last: number): { upTo: number; drafts: Draft[] } {
  const upTo = last >> 1;
  db.prepare("DELETE FROM events WHERE seq <= ?").run(upTo);
  return { upTo, drafts: [draft(1, 1)] };
}

test("reading the newest events does not query the database", () => {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [], machineName: "box" });
  journal.append(draft(1, 1), draft(2, 1));
  const [first] = journal.readAfter(0, 1) as [AnyEvent];
  db.exec("DELETE FROM events");
  expect(journal.readAfter(0, 10)).toHaveLength(2);
  expect(journal.readAfter(0, 10)[0]).toBe(first);
  expect(journal.readAfter(0, 10, { since: "2000-01-01" })).toEqual([]);
});
