import type { DatabaseSync } from "node:sqlite";
import type { EventData, HoldfastEvent, Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { SessionQueries } from "./session-queries.ts";
import { sessionsProjection } from "./sessions.ts";

const ACTOR = "user:tester" as Principal;
const ID = "aaaaaaaaaa" as SessionId;
const NOW = "2026-01-02T03:04:05.006Z";

function open() {
  const db = openDatabase(":memory:");
  return { db, journal: new Journal({ db, projections: [sessionsProjection], machineName: "box" }), queries: new SessionQueries(db) };
}

function created(session: SessionId, name: string, kind: "shell" | "terminal" = "shell"): Draft {
  const data = {
    name,
    kind,
    agent: kind === "shell" ? "shell" : "demo",
    role: null,
    objective: null,
    host: "tmux",
    cwd: "/",
    command: ["sh"],
  } as const;
  return { type: "session.created", actor: ACTOR, session, data: { ...data, command: [...data.command] } };
}

function started(session: SessionId, pid = 7): Draft {
  return { type: "session.started", actor: ACTOR, session, data: { run: 1, pid, pidStart: "x-1", outputPath: "/out" } };
}

function ended(session: SessionId, how: Pick<EventData<"session.ended">, "cause" | "exit">): Draft {
  return { type: "session.ended", actor: ACTOR, session, data: { run: 1, endedAt: NOW, lastActivityAt: null, bytes: 5, ...how } };
}

test.each([
  ["done", "exited", { code: 0, signal: null }],
  ["failed", "exited", { code: 1, signal: null }],
  ["failed", "exited", { code: null, signal: "SIGSEGV" }],
  ["failed", "exited", { code: null, signal: null }],
  ["stopped", "stopped", { code: 0, signal: null }],
  ["stopped", "stopped", { code: null, signal: "SIGTERM" }],
  ["stopped", "stopped", null],
  ["lost", "lost", null],
  ["failed", "not_started", null],
] as const)("a run is %s after %s with %j", (status, cause, exit) => {
  const { journal, queries } = open();
  journal.append(created(ID, "one"), started(ID), ended(ID, { cause, exit }));
  expect(queries.get(ID)).toMatchObject({ status, exit: exit ?? null, endedAt: NOW });
});

test("a shell that runs is working; an agent in a terminal is unknown until there is evidence", () => {
  const { journal, queries } = open();
  journal.append(created(ID, "one"));
  expect(queries.get(ID)?.status).toBe("starting");
  journal.append(started(ID));
  expect(queries.get(ID)).toMatchObject({ status: "working", pid: 7, pidStart: "x-1", outputPath: "/out", stopRequested: false });
  const other = "bbbbbbbbbb" as SessionId;
  journal.append(created(other, "two", "terminal"), started(other));
  expect(queries.get(other)?.status).toBe("unknown");
});

test("an event of a type that is not known is passed over", () => {
  const { db, journal } = open();
  journal.append(created(ID, "one"));
  const before = dump(db);
  const [event] = journal.readAfter(0, 1);
  sessionsProjection.apply(db, { ...event, type: "session.levitated", data: { anything: 1 } } as unknown as HoldfastEvent);
  expect(dump(db)).toEqual(before);
});

test("two sessions cannot have one name: the second is refused whole", () => {
  const { journal, queries } = open();
  journal.append(created(ID, "one"));
  expect(() => journal.append(created("bbbbbbbbbb" as SessionId, "one"))).toThrow();
  expect(journal.cursor.seq).toBe(1);
  expect(queries.select({ all: true })).toHaveLength(1);
});

test("the name of a removed session is free again, and its runs are gone", () => {
  const { db, journal, queries } = open();
  journal.append(created(ID, "one"), started(ID), ended(ID, { cause: "lost", exit: null }));
  journal.append({ type: "session.removed", actor: ACTOR, session: ID, data: { name: "one" } });
  expect(dump(db)).toEqual({ sessions: [], runs: [] });
  journal.append(created("bbbbbbbbbb" as SessionId, "one"));
  expect(queries.byName("one")?.id).toBe("bbbbbbbbbb");
});

type Step = { verb: "create" | "start" | "requestStop" | "end" | "rename" | "remove"; session: number; pick: number };

const steps = fc.array(
  fc.record<Step>({
    verb: fc.constantFrom("create", "create", "start", "requestStop", "end", "rename", "remove"),
    session: fc.nat(5),
    pick: fc.nat(3),
  }),
  { maxLength: 60, size: "max" },
);

const CAUSES = [
  { cause: "exited", exit: { code: 0, signal: null } },
  { cause: "exited", exit: { code: null, signal: "SIGKILL" } },
  { cause: "stopped", exit: { code: 3, signal: null } },
  { cause: "lost", exit: null },
] as const;

/** Turns random steps into what the product would have written: a step that makes no sense now writes nothing. */
function play(journal: Journal, list: readonly Step[]): void {
  const live = new Map<number, { id: SessionId; name: string; state: "starting" | "running" | "ended" }>();
  let counter = 0;
  for (const { verb, session, pick } of list) {
    const known = live.get(session);
    if (verb === "create" && !known) {
      const name = `s${++counter}`;
      const id = `aaaaaaaa${"abcdefghijklmnopqrstuvwxyz"[session]}${"abcdefghijklmnopqrstuvwxyz"[counter % 26]}` as SessionId;
      journal.append(created(id, name, pick % 2 ? "shell" : "terminal"));
      live.set(session, { id, name, state: "starting" });
    }
    if (!known) continue;
    const { id, state } = known;
    if (verb === "start" && state === "starting") {
      journal.append(started(id, 100 + pick));
      known.state = "running";
    } else if (verb === "requestStop" && state !== "ended") {
      journal.append({ type: "session.stop_requested", actor: ACTOR, session: id, data: { run: 1, graceMs: pick } });
    } else if (verb === "end" && state !== "ended") {
      journal.append(ended(id, CAUSES[pick] ?? CAUSES[0]));
      known.state = "ended";
    } else if (verb === "rename") {
      const name = `r${++counter}`;
      journal.append({ type: "session.renamed", actor: ACTOR, session: id, data: { from: known.name, name } });
      known.name = name;
    } else if (verb === "remove" && state === "ended") {
      journal.append({ type: "session.removed", actor: ACTOR, session: id, data: { name: known.name } });
      live.delete(session);
    }
  }
}

function dump(db: DatabaseSync): Record<string, unknown[]> {
  return Object.fromEntries(sessionsProjection.tables.map((table) => [table, db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]));
}

test("tables rebuilt from the journal equal the live ones, whatever happened", () => {
  let most = 0;
  fc.assert(
    fc.property(steps, (list) => {
      const { db, journal } = open();
      play(journal, list);
      const live = dump(db);
      most = Math.max(most, journal.cursor.seq);
      journal.rebuild();
      expect(dump(db)).toEqual(live);
      expect(journal.readAfter(0, 1000).map(({ seq }) => seq)).toEqual(Array.from({ length: journal.cursor.seq }, (_, i) => i + 1));
      db.close();
    }),
    { numRuns: 100 },
  );
  expect(most).toBeGreaterThan(10);
});

test("a rebuild brings damaged tables back, and a rebuild that fails leaves them as they were", () => {
  const { db, journal } = open();
  journal.append(created(ID, "one"), started(ID));
  const good = dump(db);
  db.exec("UPDATE sessions SET name = 'wrong', status = 'lost'; DELETE FROM runs");
  journal.rebuild();
  expect(dump(db)).toEqual(good);
  db.exec("UPDATE events SET data = '{' WHERE seq = 2");
  expect(() => journal.rebuild()).toThrow();
  expect(dump(db)).toEqual(good);
});
