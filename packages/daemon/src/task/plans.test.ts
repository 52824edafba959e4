import type { NewDeclaration, Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { PROJECTIONS } from "../projection/all.ts";
import { PlanQueries } from "../projection/plans.ts";
import { snapshotOf } from "../projection/sessions.ts";
import { Plans } from "./plans.ts";

const ACTOR = "user:tester" as Principal;
const ONE = "aaaaaaaaaa" as SessionId;
const FILE = "/p/team.toml";

function open() {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: PROJECTIONS, machineName: "box" });
  const append = (type: string, session: SessionId | null, data: object) => journal.append({ type, actor: ACTOR, session, data } as Draft);
  const shape = { name: "one", kind: "conversation", agent: "demo", role: null, objective: null, host: "native", cwd: "/", command: ["x"] };
  append("session.created", ONE, shape);
  return { db, journal, append, plans: new Plans({ journal, queries: new PlanQueries(db) }) };
}

const SESSION: NewDeclaration = { file: FILE, what: "session", ref: ONE, key: null, name: "lead", said: { agent: '"demo"' } };
const GROUP: NewDeclaration = { file: FILE, what: "group", ref: "team", key: null, name: "team", said: {} };
const VALUE: NewDeclaration = { file: FILE, what: "value", ref: "team", key: "goal", name: "team", said: { value: "sha256:1" } };

test("a declaration is kept for its file in its last form, and repeating it adds no event", () => {
  const { plans, journal } = open();
  const { at } = plans.declare(SESSION, ACTOR);
  plans.declare(VALUE, ACTOR);
  const { seq } = journal.cursor;
  plans.declare({ ...SESSION, said: { agent: '"demo"' } }, ACTOR);
  expect(journal.cursor.seq).toBe(seq);
  expect(plans.declare({ ...SESSION, said: { agent: '"claude"' } }, ACTOR)).toMatchObject({ at, said: { agent: '"claude"' } });
  expect(plans.list(FILE)).toMatchObject([{ what: "session", name: "lead", session: { id: ONE, name: "one" } }, VALUE]);
  expect(plans.list("/p/other.toml")).toEqual([]);
});

test("a forgotten declaration is gone, and so are those of a removed session or group", () => {
  const { plans, append, journal } = open();
  for (const each of [SESSION, GROUP, VALUE]) plans.declare(each, ACTOR);
  plans.forget(VALUE, ACTOR);
  const { seq } = journal.cursor;
  plans.forget(VALUE, ACTOR);
  expect(journal.cursor.seq).toBe(seq);
  expect(plans.list(FILE).map(({ what }) => what)).toEqual(["session", "group"]);
  plans.declare(VALUE, ACTOR);
  append("group.removed", null, { group: "team", revision: 0 });
  append("session.removed", ONE, { name: "one", parent: null });
  expect(plans.list(FILE)).toEqual([]);
  expect(() => plans.declare({ ...SESSION, said: {} }, ACTOR)).toThrow(expect.objectContaining({ code: "session_not_found" }));
});

test("declarations rebuilt from the journal equal the live ones after any pruning", () => {
  const step = fc.constantFrom("session", "group", "value", "other", "forget", "remove group", "remove session", "prune");
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { db, journal, plans, append } = open();
      const dump = () => db.prepare("SELECT * FROM plans ORDER BY file, what, ref, key").all();
      const options = { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, snapshot: snapshotOf, isThere: () => true, forget: () => {} };
      let isThere = true;
      for (const [index, each] of steps.entries()) {
        if (each === "session" && isThere) plans.declare({ ...SESSION, said: { at: String(index) } }, ACTOR);
        else if (each === "group") plans.declare(GROUP, ACTOR);
        else if (each === "value") plans.declare({ ...VALUE, said: { value: String(index) } }, ACTOR);
        else if (each === "other") plans.declare({ ...VALUE, file: "/p/other.toml" }, ACTOR);
        else if (each === "forget") plans.forget(VALUE, ACTOR);
        else if (each === "remove group") append("group.removed", null, { group: "team", revision: 0 });
        else if (each === "prune") pruneEvents(journal, { ...options, mostOldEvents: 3 });
        else if (each === "remove session" && isThere) {
          append("session.removed", ONE, { name: "one", parent: null });
          isThere = false;
        }
      }
      const live = dump();
      journal.rebuild();
      expect(dump()).toEqual(live);
      db.close();
    }),
    { numRuns: 100 },
  );
});
