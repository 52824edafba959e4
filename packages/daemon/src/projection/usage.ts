/**
 * What was used of models, one row for each `usage.recorded`, and up to where each agent's own records were read. Rows stay when their session is
 * removed, and their events are never pruned: what was spent stays spent. A turn takes some 300 bytes, for ever.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EventData, Principal, SessionId, UsageRecord } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Draft, Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

const DAEMON = "daemon" as Principal;

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
      // What a removed session used still counts toward the session that started it.
      if (event.type === "session.removed")
        db.prepare("UPDATE usage SET heir = ?2 WHERE session = ?1 OR heir = ?1").run(session, event.data.parent ?? null);
      db.prepare("DELETE FROM usage_places WHERE session = ?").run(session);
      if (event.type === "session.snapshot") for (const place of event.data.usagePlaces ?? []) insertRow(db, "usage_places", place);
    }
  },
};

/** Of a session whose own events were pruned with its removal, nothing is read any more. */
const REMEMBER = "INSERT OR REPLACE INTO usage_places (session, place, state) SELECT id, ?2, ?3 FROM sessions WHERE id = ?1";

const COLUMNS =
  "seq, session, name, agent, run, turn, model, at, input, output, cache_read, cache_write, cost, context_used, context_size, source, key, groups, estimated";

/** One that has a row by its key already is the same one. */
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

/** The fact for the transaction in which it was found out. */
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
  /** As the session is called now; of a removed one, as it was called then. */
  name: string;
  agent: string;
  at: string;
  /** Those that the session is in now; of a removed one, those it was in then. */
  groups: string[];
}

export class UsageQueries {
  readonly #db: DatabaseSync;
  /** Asked for each session of each list. */
  #last: StatementSync | undefined;
  #inherited: StatementSync | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** In the order in which they were recorded. `after` is a place in the journal, `since` a time, `heirs` those who count what removed sessions used. */
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

  /** Of its newest row; 0 without any. */
  lastSeq(session: SessionId): number {
    this.#last ??= this.#db.prepare("SELECT max(seq) AS seq FROM usage WHERE session = ?");
    const last = this.#last;
    return Number(watched(this.#db, () => last.get(session))?.seq ?? 0);
  }

  /** Changes whenever a session is removed whose use counts toward this one; 0 without any. */
  lastInherited(heir: SessionId): number {
    this.#inherited ??= this.#db.prepare("SELECT coalesce(sum(seq), 0) AS seq FROM usage WHERE heir = ?");
    const inherited = this.#inherited;
    return Number(watched(this.#db, () => inherited.get(heir))?.seq ?? 0);
  }

  has(session: SessionId, key: string): boolean {
    return watched(this.#db, () => this.#db.prepare("SELECT 1 FROM usage WHERE session = ? AND key = ?").get(session, key)) !== undefined;
  }

  /** How far it was read there, in the words of who reads; undefined: not at all. */
  stateOf(session: SessionId, place: string): string | undefined {
    const sql = "SELECT state FROM usage_places WHERE session = ? AND place = ?";
    return watched(this.#db, () => this.#db.prepare(sql).get(session, place))?.state as string | undefined;
  }

  /** The turn that a time falls into. Some are seen to begin a moment late: what is between two belongs to the second, what is behind all to the last. */
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
    session: row.session as SessionId,
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
