/**
 * Usage of models, one row for each `usage.recorded`, and how far each agent's own records were read. Rows stay when their session is removed, and
 * their events are never pruned: money spent stays spent. A turn takes about 300 bytes, forever.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { DAEMON, type EventData, type SessionId, sessionId, type UsageRecord } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Draft, Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

export const usageProjection: Projection = {
  tables: ["usage", "usage_places"],
  kept: ["usage.recorded"],
  apply(db, event) {
    const { session } = event;
    if (event.type === "usage.recorded") {
      const { read } = event.data;
      record(db, { ...event.data, seq: event.seq, session: String(session), at: event.data.at ?? event.at });
      if (read) db.prepare(REMEMBER).run(session, read.place, read.state);
    } else if (event.type === "session.removed" || event.type === "session.snapshot") {
      // A removed session's usage still counts toward its parent.
      if (event.type === "session.removed")
        db.prepare("UPDATE usage SET heir = ?2 WHERE session = ?1 OR heir = ?1").run(session, event.data.parent ?? null);
      db.prepare("DELETE FROM usage_places WHERE session = ?").run(session);
      if (event.type === "session.snapshot") for (const place of event.data.usagePlaces ?? []) insertRow(db, "usage_places", place);
    }
  },
};

/** Nothing more is read for a removed session whose events were pruned. */
const REMEMBER = "INSERT OR REPLACE INTO usage_places (session, place, state) SELECT id, ?2, ?3 FROM sessions WHERE id = ?1";

const COLUMNS =
  "seq, session, name, agent, run, turn, model, at, input, output, cache_read, cache_write, cost, context_used, context_size, source, key, groups, estimated";

/** A record whose key already has a row is a duplicate. */
function record(db: DatabaseSync, fact: EventData<"usage.recorded"> & { seq: number; session: string; at: string }): void {
  db.prepare(`INSERT OR IGNORE INTO usage (${COLUMNS}) VALUES (${"?, ".repeat(18)}?)`).run(
    fact.seq,
    fact.session,
    fact.name,
    fact.agent,
    fact.run,
    fact.turn,
    fact.model,
    fact.at,
    fact.input,
    fact.output,
    fact.cacheRead,
    fact.cacheWrite,
    fact.cost,
    fact.context?.used ?? null,
    fact.context?.size ?? null,
    fact.source,
    fact.key,
    fact.groups === undefined ? null : JSON.stringify(fact.groups),
    fact.estimated ? 1 : 0,
  );
}

/** Returns the event to append in the transaction that found the usage. */
export function usageDraft(
  { id, name, agent, groups = [] }: { id: SessionId; name: string; agent: string; groups?: readonly string[] },
  usage: UsageRecord & Pick<EventData<"usage.recorded">, "at" | "read">,
): Draft {
  return {
    type: "usage.recorded",
    actor: DAEMON,
    session: id,
    data: { ...usage, agent, name, ...(groups.length === 0 ? {} : { groups: [...groups] }) },
  };
}

export interface UsageFact extends Omit<UsageRecord, "source" | "key"> {
  seq: number;
  session: SessionId;
  /** The session's current name; for a removed session, its name at that time. */
  name: string;
  agent: string;
  at: string;
  /** The session's current groups; for a removed session, its groups at that time. */
  groups: string[];
}

export class UsageQueries {
  readonly #db: DatabaseSync;
  /** Run for each session of each list. */
  #last: StatementSync | undefined;
  #inherited: StatementSync | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /**
   * Returns facts in the order recorded. `after`: a journal position; `since`: a time; `heirs`: sessions that inherited the usage of removed ones.
   */
  facts(filter: {
    session?: SessionId;
    after?: number;
    since?: string | undefined;
    within?: readonly SessionId[] | undefined;
    heirs?: readonly SessionId[];
  }): UsageFact[] {
    const where = ["u.seq > ?"];
    const values: (string | number)[] = [filter.after ?? 0];
    if (filter.session !== undefined) {
      where.push("u.session = ?");
      values.push(filter.session);
    }
    if (filter.since !== undefined) {
      where.push("u.at >= ?");
      values.push(filter.since);
    }
    if (filter.within !== undefined) {
      where.push("u.session IN (SELECT value FROM json_each(?))");
      values.push(JSON.stringify(filter.within));
    }
    if (filter.heirs !== undefined) {
      where.push("u.heir IN (SELECT value FROM json_each(?))");
      values.push(JSON.stringify(filter.heirs));
    }
    const sql = `SELECT u.*, coalesce(s.name, u.name) AS name,
        CASE WHEN s.id IS NULL THEN coalesce(u.groups, '[]') ELSE (SELECT json_group_array(m.path ORDER BY m.path) FROM group_members m WHERE m.session = s.id) END AS groups
      FROM usage u LEFT JOIN sessions s ON s.id = u.session WHERE ${where.join(" AND ")} ORDER BY u.seq`;
    return watched(this.#db, () => this.#db.prepare(sql).all(...values)).map(toFact);
  }

  /** Returns the position of its newest row; 0 without any. */
  lastSeq(session: SessionId): number {
    this.#last ??= this.#db.prepare("SELECT max(seq) AS seq FROM usage WHERE session = ?");
    const last = this.#last;
    return Number(watched(this.#db, () => last.get(session))?.seq ?? 0);
  }

  /** Returns a value that changes when a removed session's usage is added to this one; 0 without any. */
  lastInherited(heir: SessionId): number {
    this.#inherited ??= this.#db.prepare("SELECT coalesce(sum(seq), 0) AS seq FROM usage WHERE heir = ?");
    const inherited = this.#inherited;
    return Number(watched(this.#db, () => inherited.get(heir))?.seq ?? 0);
  }

  has(session: SessionId, key: string): boolean {
    return watched(this.#db, () => this.#db.prepare("SELECT 1 FROM usage WHERE session = ? AND key = ?").get(session, key)) !== undefined;
  }

  /** Returns the reader's saved state for a place; undefined if nothing was read. */
  stateOf(session: SessionId, place: string): string | undefined {
    const sql = "SELECT state FROM usage_places WHERE session = ? AND place = ?";
    return watched(this.#db, () => this.#db.prepare(sql).get(session, place))?.state as string | undefined;
  }

  /**
   * Returns the turn at a time. Turns may be observed late, so a time between two turns belongs to the second, and a time after all turns to the
   * last.
   */
  turnAt(session: SessionId, at: string | null): { turn: string; run: number } | undefined {
    const sql = `SELECT turn, run FROM turns WHERE session = ?1
                 ORDER BY coalesce(ended_at >= ?2, 1) DESC, CASE WHEN coalesce(ended_at >= ?2, 1) THEN turn ELSE -turn END LIMIT 1`;
    const row = watched(this.#db, () => this.#db.prepare(sql).get(session, at ?? "9"));
    return row && { turn: String(row.turn), run: row.run as number };
  }
}

function toFact(row: Record<string, unknown>): UsageFact {
  return {
    seq: row.seq as number,
    session: sessionId(row.session as string),
    name: row.name as string,
    agent: row.agent as string,
    run: row.run as UsageFact["run"],
    turn: row.turn as string | null,
    model: row.model as string | null,
    at: row.at as string,
    groups: JSON.parse(row.groups as string) as string[],
    input: row.input as number | null,
    output: row.output as number | null,
    cacheRead: row.cache_read as number | null,
    cacheWrite: row.cache_write as number | null,
    cost: row.cost as number | null,
    ...(row.estimated ? { estimated: true } : {}),
    context: row.context_used === null ? null : { used: row.context_used as number, size: row.context_size as number },
  };
}
