import { DatabaseSync } from "node:sqlite";
import type { EventData, HoldfastEvent, Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { migrate, openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { MIGRATIONS } from "../journal/migrations.ts";
import { pruneEvents } from "../journal/prune.ts";
import { removal } from "./removal.ts";
import { SessionQueries } from "./session-queries.ts";
import { sessionsProjection, snapshotOf } from "./sessions.ts";

const ACTOR = "user:tester" as Principal;
const ID = "aaaaaaaaaa" as SessionId;
const NOW = "2026-01-02T03:04:05.006Z";

function open() {
  const db = openDatabase(":memory:");
  return { db, journal: new Journal({ db, projections: [sessionsProjection], machineName: "box" }), queries: new SessionQueries(db) };
}

function created(session: SessionId, name: string, kind: "shell" | "terminal" = "shell", parent: SessionId | null = null): Draft {
  const data = {
    name,
    kind,
    agent: kind === "shell" ? "shell" : "demo",
    role: null,
    objective: null,
    host: "tmux",
    cwd: "/",
    command: ["sh"],
    parent,
  } as const;
  return { type: "session.created", actor: ACTOR, session, data: { ...data, command: [...data.command] } };
}

function started(session: SessionId, { pid = 7, run = 1 } = {}): Draft {
  return { type: "session.started", actor: ACTOR, session, data: { run, pid, pidStart: "x-1", outputPath: "/out" } };
}

function ended(session: SessionId, how: Pick<EventData<"session.ended">, "cause" | "exit"> & { run?: number }): Draft {
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

test("a running shell is working; an agent in a terminal is unknown until there is evidence", () => {
  const { journal, queries } = open();
  journal.append(created(ID, "one"));
  expect(queries.get(ID)?.status).toBe("starting");
  journal.append(started(ID));
  expect(queries.get(ID)).toMatchObject({ status: "working", pid: 7, pidStart: "x-1", outputPath: "/out", stopRequested: false });
  const other = "bbbbbbbbbb" as SessionId;
  journal.append(created(other, "two", "terminal"), started(other));
  expect(queries.get(other)?.status).toBe("unknown");
});

test("an event of an unknown type is ignored", () => {
  const { db, journal } = open();
  journal.append(created(ID, "one"));
  const before = dump(db);
  const [event] = journal.readAfter(0, 1);
  sessionsProjection.apply(db, { ...event, type: "session.levitated", data: { anything: 1 } } as unknown as HoldfastEvent);
  expect(dump(db)).toEqual(before);
});

test("two sessions cannot share a name: the second is refused completely", () => {
  const { journal, queries } = open();
  journal.append(created(ID, "one"));
  expect(() => journal.append(created("bbbbbbbbbb" as SessionId, "one"))).toThrow();
  expect(journal.cursor.seq).toBe(1);
  expect(queries.select({ all: true })).toHaveLength(1);
});

test("a removed session's name is free again, and its runs are gone", () => {
  const { db, journal, queries } = open();
  journal.append(created(ID, "one"), started(ID), ended(ID, { cause: "lost", exit: null }));
  journal.append({ type: "session.removed", actor: ACTOR, session: ID, data: { name: "one" } });
  expect(dump(db)).toEqual({ sessions: [], runs: [] });
  journal.append(created("bbbbbbbbbb" as SessionId, "one"));
  expect(queries.byName("one")?.id).toBe("bbbbbbbbbb");
});

const VERBS = [
  "create",
  "start",
  "requestStop",
  "end",
  "rename",
  "remove",
  "schedule",
  "abandon",
  "nextRun",
  "adopt",
  "view",
  "cut",
  "prune",
] as const;

type Step = { verb: (typeof VERBS)[number]; session: number; pick: number };

const steps = fc.array(fc.record<Step>({ verb: fc.constantFrom(...VERBS), session: fc.nat(4), pick: fc.nat(3) }), {
  maxLength: 80,
  size: "max",
});

const CAUSES = [
  { cause: "exited", exit: { code: 0, signal: null } },
  { cause: "exited", exit: { code: null, signal: "SIGKILL" } },
  { cause: "stopped", exit: { code: 3, signal: null } },
  { cause: "lost", exit: null },
] as const;

/** A simulated session. A step that is invalid in the current state writes nothing. */
class Played {
  name: string;
  run = 1;
  state: "starting" | "running" | "ended" = "starting";
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #id: SessionId;

  constructor(journal: Journal, options: { id: SessionId; name: string; pick: number; parent: SessionId | null; queries: SessionQueries }) {
    this.#queries = options.queries;
    this.#journal = journal;
    this.#id = options.id;
    this.name = options.name;
    journal.append(created(options.id, options.name, options.pick % 2 ? "shell" : "terminal", options.parent));
  }

  /** False when the session is gone. */
  play({ verb, pick }: Step, freshName: string): boolean {
    const about = { actor: ACTOR, session: this.#id };
    const isEnded = this.state === "ended";
    if (verb === "start" && this.state === "starting") {
      this.#journal.append(started(this.#id, { pid: 100 + pick, run: this.run }));
      this.state = "running";
    } else if (verb === "requestStop" && !isEnded) {
      this.#journal.append({ ...about, type: "session.stop_requested", data: { run: this.run, graceMs: pick } });
    } else if (verb === "end" && !isEnded) {
      this.#journal.append(ended(this.#id, { ...(CAUSES[pick] ?? CAUSES[0]), run: this.run }));
      this.state = "ended";
    } else if (verb === "rename") {
      this.#journal.append({ ...about, type: "session.renamed", data: { from: this.name, name: freshName } });
      this.name = freshName;
    } else if (verb === "schedule" && isEnded) {
      this.#journal.append({ ...about, type: "session.restart_scheduled", data: { run: this.run, at: NOW, quickEnds: pick } });
    } else if (verb === "abandon" && isEnded) {
      this.#journal.append({ ...about, type: "session.restart_abandoned", data: { why: "crash_loop", quickEnds: pick } });
    } else if (verb === "nextRun" && isEnded) {
      this.#journal.append({ ...about, type: "session.run_created", data: { run: ++this.run, why: "restart" } });
      this.state = "starting";
    } else if (verb === "adopt" && isEnded) {
      this.#journal.append({ ...about, type: "session.adopted", data: { run: this.run, pid: 9, pidStart: "x-9", outputPath: "/out" } });
      this.state = "running";
    } else if (verb === "view" && isEnded) {
      this.#journal.append({ ...about, type: "session.viewed", data: { run: this.run } });
    } else if (verb === "cut" && this.state === "running") {
      const data = { run: this.run, offset: pick << 20, bytes: 1 << 20, limit: 2 << 20, outputPath: `/out.${pick}` };
      this.#journal.append({ ...about, type: "recording.cut", data });
    } else if (verb === "remove" && isEnded) {
      this.#journal.append(...removal(this.#queries, this.#queries.resolve(this.#id), { actor: ACTOR }));
      return false;
    }
    return true;
  }
}

function play({ db, journal }: { db: DatabaseSync; journal: Journal }, list: readonly Step[]): void {
  const live = new Map<number, Played>();
  const queries = new SessionQueries(db);
  for (const [index, step] of list.entries()) {
    const known = live.get(step.session);
    if (step.verb === "prune") {
      const before = dump(db);
      prune({ db, journal }, step.pick);
      expect(dump(db)).toEqual(before);
    } else if (known) {
      if (!known.play(step, `r${index}`)) live.delete(step.session);
    } else if (step.verb === "create") {
      const id =
        `aaaaaaa${[step.session, Math.floor(index / 26), index % 26].map((n) => "abcdefghijklmnopqrstuvwxyz"[n]).join("")}` as SessionId;
      // The parent is an existing session or none: trees of any shape.
      const parent = queries.select({ all: true })[step.pick - 1]?.id ?? null;
      live.set(step.session, new Played(journal, { id, name: `s${index}`, pick: step.pick, parent, queries }));
    }
  }
}

/** Prunes with a cutoff after every event. */
function prune({ db, journal }: { db: DatabaseSync; journal: Journal }, mostOldEvents: number): void {
  const isThere = (id: SessionId) => new SessionQueries(db).get(id) !== undefined;
  const options = { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, snapshot: snapshotOf, isThere, forget: () => {}, mostOldEvents };
  // A new snapshot would be old too, so each step makes one snapshot.
  pruneEvents(journal, options);
}

function dump(db: DatabaseSync): Record<string, unknown[]> {
  return Object.fromEntries(sessionsProjection.tables.map((table) => [table, db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]));
}

test("tables rebuilt from the journal equal the live ones after any sequence of events", () => {
  let most = 0;
  fc.assert(
    fc.property(steps, (list) => {
      const { db, journal } = open();
      play({ db, journal }, list);
      const live = dump(db);
      most = Math.max(most, journal.cursor.seq);
      journal.rebuild();
      expect(dump(db)).toEqual(live);
      const seqs = journal.readAfter(0, 1000).map(({ seq }) => seq);
      const pruned = list.some(({ verb }) => verb === "prune");
      if (!pruned) expect(seqs).toEqual(Array.from({ length: journal.cursor.seq }, (_, i) => i + 1));
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      expect(seqs.at(-1) ?? 0).toBe(journal.cursor.seq);
      expect(new Journal({ db, projections: [], machineName: "box" }).cursor).toEqual(journal.cursor);
      db.close();
    }),
    { numRuns: 200 },
  );
  expect(most).toBeGreaterThan(10);
});

test("a rebuild repairs damaged tables, and a failed rebuild leaves them unchanged", () => {
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

test("a run from before durations existed uses the wall clock, and never has a negative duration", () => {
  const { db, journal } = open();
  journal.append(created(ID, "one"), started(ID), ended(ID, { cause: "lost", exit: null }));
  const [start] = journal.readAfter(0, 1, { types: ["session.started"] });
  expect(db.prepare("SELECT duration_ms FROM runs").get()).toEqual({
    duration_ms: Math.max(0, Date.parse(NOW) - Date.parse(start?.at ?? "")),
  });
  const other = "bbbbbbbbbb" as SessionId;
  const later = "2999-01-02T03:04:05.006Z";
  const end = ended(other, { cause: "lost", exit: null });
  journal.append(created(other, "two"), started(other), { ...end, data: { ...end.data, endedAt: later } } as Draft);
  const [second] = journal.readAfter(start?.seq ?? 0, 1, { types: ["session.started"] });
  expect(db.prepare("SELECT duration_ms FROM runs WHERE session = ?").get(other)).toEqual({
    duration_ms: Date.parse(later) - Date.parse(second?.at ?? ""),
  });
});

test("a view counts for one run: the next run is unviewed", () => {
  const { journal, queries } = open();
  journal.append(created(ID, "one"), started(ID), ended(ID, { cause: "lost", exit: null }));
  expect(queries.get(ID)?.viewedAt).toBe(null);
  journal.append({ type: "session.viewed", actor: ACTOR, session: ID, data: { run: 1 } });
  expect(queries.get(ID)?.viewedAt).toMatch(/^\d{4}-/);
  journal.append({ type: "session.run_created", actor: ACTOR, session: ID, data: { run: 2, why: "restart" } });
  expect(queries.get(ID)?.viewedAt).toBe(null);
});

test("migrated tables of the first schema equal those rebuilt from its events", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, MIGRATIONS.slice(0, 1));
  const event = db.prepare("INSERT INTO events VALUES (?, 'e', ?, ?, 1, ?, 'user:tester', ?, 'box', ?)");
  const facts = [created(ID, "one"), started(ID), { ...ended(ID, { cause: "exited", exit: { code: 0, signal: null } }) }];
  for (const [index, { type, session, data }] of facts.entries()) {
    event.run(index + 1, String(index), type, `2026-01-02T03:00:00.00${index}Z`, session, JSON.stringify(data));
  }
  db.exec(`INSERT INTO sessions VALUES ('${ID}', 'one', 'shell', 'shell', NULL, NULL, 'tmux', '/', '["sh"]', 'user:tester',
             '2026-01-02T03:00:00.000Z', 1, 'done', 1, 'never', NULL, NULL);
           INSERT INTO runs VALUES ('${ID}', 1, 7, 'x-1', '/out', '2026-01-02T03:00:00.001Z', 0, NULL, '${NOW}', 0, NULL, 'exited', NULL, 5)`);
  migrate(db);
  const live = dump(db);
  expect(live.runs).toMatchObject([{ duration_ms: Date.parse(NOW) - Date.parse("2026-01-02T03:00:00.001Z"), ended_seq: 3, cut_offset: 0 }]);
  new Journal({ db, projections: [sessionsProjection], machineName: "box" }).rebuild();
  expect(dump(db)).toEqual(live);
});

test("a session keeps its budget, its warnings and the exceeded limit, and a change resets only what it affects", () => {
  const { db, journal, queries } = open();
  const about = { actor: ACTOR, session: ID } as const;
  const budgetOf = () => {
    const { budget, budgetWarned, budgetExceeded } = queries.resolve(ID);
    return { budget, budgetWarned, budgetExceeded };
  };
  const draft = created(ID, "one") as Extract<Draft, { type: "session.created" }>;
  journal.append({ ...draft, data: { ...draft.data, budget: { turns: 5, cost: 2 } } });
  expect(budgetOf()).toEqual({ budget: { turns: 5, cost: 2 }, budgetWarned: [], budgetExceeded: null });
  const data = { run: 1, limit: "turns", used: 4, allowed: 5 } as const;
  journal.append({ ...about, type: "budget.warned", data }, { ...about, type: "budget.warned", data: { ...data, limit: "cost" } });
  const [exceeded] = journal.append({ ...about, type: "budget.exceeded", data: { ...data, used: 5 } });
  const told = { limit: "turns", used: 5, allowed: 5, at: exceeded?.at };
  expect(budgetOf()).toMatchObject({ budgetWarned: ["turns", "cost"], budgetExceeded: told });
  journal.append({ ...about, type: "budget.changed", data: { budget: { turns: 10, cost: 2 } } });
  expect(budgetOf()).toEqual({ budget: { turns: 10, cost: 2 }, budgetWarned: ["cost"], budgetExceeded: null });
  const before = dump(db);
  journal.rebuild();
  expect(dump(db)).toEqual(before);
  expect(queries.budgeted().map(({ id }) => id)).toEqual([ID]);
  const other = "bbbbbbbbbb" as SessionId;
  journal.append(created(other, "two"), { ...about, session: other, type: "budget.changed", data: { budget: { turns: 1 } } });
  expect(queries.resolve(other).budget).toEqual({ turns: 1 });
});

test("formerRunsMs uses durations, and wall-clock times for a lost run", () => {
  const { journal, queries } = open();
  const start = "2026-01-02T03:04:00.000Z";
  const run = (number: number, durationMs: number | null): Draft[] => [
    ...(number === 1 ? [] : [{ type: "session.run_created", actor: ACTOR, session: ID, data: { run: number, why: "resume" } } as Draft]),
    {
      type: "session.started",
      actor: ACTOR,
      session: ID,
      data: { run: number, pid: 7, pidStart: "x", outputPath: "/o", startedAt: start },
    },
    {
      type: "session.ended",
      actor: ACTOR,
      session: ID,
      data: { run: number, exit: null, cause: "lost", endedAt: NOW, lastActivityAt: null, bytes: 0, durationMs },
    },
  ];
  journal.append(created(ID, "one"), ...run(1, 1000), ...run(2, null), ...run(3, 7));
  expect([1, 2, 3, 4].map((last) => Math.round(queries.formerRunsMs(ID, last)))).toEqual([0, 1000, 6006, 6013]);
  const [{ seq } = { seq: 0 }] = journal.readAfter(0, 1, { types: ["session.ended"] });
  expect(queries.endedAfter(seq).map(({ id }) => id)).toEqual([ID]);
  expect(queries.endedAfter(journal.cursor.seq)).toEqual([]);
});

test("a failure stays until a person looks at it; an older look or an agent's does not clear it (mend 14)", () => {
  const { journal, queries } = open();
  const about = { actor: ACTOR, session: ID };
  const failure = () => queries.resolve(ID).failure?.what ?? null;
  journal.append(created(ID, "one"));
  const failed = { run: 1, turn: 1, toldAt: new Date().toISOString(), why: "no network" };
  const [told] = journal.append({ ...about, type: "session.turn_failed", data: failed } as Draft);
  const look = (upTo: number, actor = about.actor) =>
    journal.append({ ...about, actor, type: "session.looked_at", data: { upTo, head: null } } as Draft);
  look((told?.seq ?? 0) - 1);
  look(told?.seq ?? 0, "session:bbbbbbbbbb" as Principal);
  expect(failure()).toBe("turn");
  expect(queries.select({ unseen: true }).map(({ failure: each }) => each)).toEqual([{ what: "turn", why: "no network", at: told?.at }]);
  look(told?.seq ?? 0);
  expect(failure()).toBeNull();
  // A view of a running session says nothing about its end.
  journal.append({ ...about, type: "session.viewed", data: { run: 1 } } as Draft);
  expect(queries.resolve(ID).viewedAt).toBeNull();
  const end = { run: 1, cause: "exited", endedAt: new Date().toISOString(), lastActivityAt: null, bytes: 0 };
  journal.append({ ...about, type: "session.ended", data: { ...end, exit: { code: 1, signal: null } } } as Draft);
  expect([failure(), queries.select({}).length, queries.select({ unseen: true }).length]).toEqual(["ended", 0, 1]);
  journal.append({ ...about, type: "session.viewed", data: { run: 1 } } as Draft);
  expect([failure(), queries.resolve(ID).viewedAt]).toEqual([null, expect.any(String)]);
});
