/** For tests: a journal with all its tables and a few sessions. */
import type { EventData, Principal, SessionId, Sums } from "@holdfast/contract";
import { Refusals } from "../src/access/refusals.ts";
import { Coordination } from "../src/group/coordination.ts";
import { Groups } from "../src/group/groups.ts";
import { GroupReach } from "../src/group/reach.ts";
import { SharedValues } from "../src/group/shared-values.ts";
import { openDatabase } from "../src/journal/database.ts";
import { type Draft, Journal } from "../src/journal/journal.ts";
import { pruneEvents } from "../src/journal/prune.ts";
import { PROJECTIONS } from "../src/projection/all.ts";
import { GroupQueries } from "../src/projection/group-queries.ts";
import { removal } from "../src/projection/removal.ts";
import { SessionQueries } from "../src/projection/session-queries.ts";
import { snapshotOf } from "../src/projection/sessions.ts";

export const ME = "user:tester" as Principal;
export const NOTHING: Sums = {
  turns: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  unknownTokens: 0,
  cost: null,
  unknownCosts: 0,
  estimated: false,
};
const DAY_MS = 86_400_000;
const TABLES = PROJECTIONS.flatMap(({ tables }) => tables);

export class GroupBench {
  now = Date.parse("2026-01-01T00:00:00Z");
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: PROJECTIONS, machineName: "box", clock: () => this.now });
  readonly sessions = new SessionQueries(this.db);
  readonly queries = new GroupQueries(this.db);
  readonly kept = new Map<SessionId, string[]>();
  readonly groups: Groups;
  readonly values = new SharedValues({ journal: this.journal, queries: this.queries, nameOf: (principal) => principal });
  readonly coordination = new Coordination({ journal: this.journal, queries: this.queries });
  readonly reach = new GroupReach({
    queries: this.queries,
    sessions: this.sessions,
    refusals: new Refusals({ journal: this.journal, clock: () => this.now }),
  });

  constructor({ limit = 32 } = {}) {
    this.groups = new Groups({
      journal: this.journal,
      queries: this.queries,
      sessions: this.sessions,
      limit,
      keep: (session, groups) => this.kept.set(session, groups),
    });
  }

  /** A running session; its id is derived from its name. */
  session(name: string, more: Partial<EventData<"session.created">> = {}): SessionId {
    const id = name.padEnd(10, "x") as SessionId;
    const shape = { name, kind: "shell", agent: "shell", role: null, objective: null, host: "native", cwd: "/", command: ["sh"], ...more };
    const started = { run: 1, pid: 7, pidStart: "x-1", outputPath: "/out" };
    this.journal.append({ type: "session.created", actor: ME, session: id, data: shape } as Draft, {
      type: "session.started",
      actor: ME,
      session: id,
      data: started,
    });
    return id;
  }

  end(session: SessionId, { run = 1, ...more }: { run?: number; restart?: boolean } = {}): void {
    const endedAt = new Date(this.now).toISOString();
    const data = { run, exit: { code: 1, signal: null }, cause: "exited" as const, endedAt, lastActivityAt: null, bytes: 0 };
    const next: Draft = { type: "session.restart_scheduled", actor: ME, session, data: { run: run + 1, at: endedAt, quickEnds: 0 } };
    this.journal.append({ type: "session.ended", actor: ME, session, data }, ...(more.restart ? [next] : []));
  }

  resume(session: SessionId, run = 2): void {
    this.journal.append({ type: "session.run_created", actor: ME, session, data: { run, why: "resume" } });
  }

  remove(session: SessionId): void {
    const record = this.sessions.resolve(session);
    this.journal.append(...removal(this.sessions, record, { actor: ME }));
  }

  /** Prunes everything older than ten days that may be pruned. */
  prune({ mostOldEvents = 1000 } = {}): void {
    const options = {
      before: new Date(this.now - 10 * DAY_MS).toISOString(),
      actor: ME,
      snapshot: snapshotOf,
      isThere: (session: SessionId) => this.sessions.get(session) !== undefined,
      forget: () => {},
      mostOldEvents,
    };
    while (pruneEvents(this.journal, options));
  }

  pass(days: number): void {
    this.now += days * DAY_MS;
  }

  /** Every row of every table. */
  tables(): Record<string, unknown[]> {
    const rows = (table: string) =>
      this.db
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .map((row) => ({ ...row }));
    return Object.fromEntries(TABLES.map((table) => [table, rows(table)]));
  }

  names(path: string): string[] {
    return this.queries.members(path).map(({ name }) => name);
  }

  events(type: string): Record<string, unknown>[] {
    return this.journal.readAfter(0, 100_000, { types: [type] }).map(({ data }) => data);
  }
}
