/** Messages to agents, derived from `message.*` events, and the queries on them. They go with their session. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { HoldfastEvent, MessageState, Principal, SessionId } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import type { SessionRecord } from "./session-queries.ts";
import { insertRow } from "./sessions.ts";

export interface MessageRecord {
  id: string;
  session: SessionId;
  from: Principal;
  text: string;
  addition: string | null;
  steer: boolean;
  state: MessageState;
  /** Something may still come of it. */
  open: boolean;
  /** A turn ran when it was handed over. */
  working: boolean;
  run: number | null;
  via: string | null;
  evidence: string | null;
  reply: string | null;
  why: string | null;
  hint: string | null;
  known: boolean;
  queuedAt: string;
  injectedAt: string | null;
  turnStartedAt: string | null;
  endedAt: string | null;
}

/**
 * Whether what is queued for a session that has ended is for its next run. Of one that was stopped, or was done, nobody can tell whether it is still
 * meant.
 */
export function waitsForNextRun({ status, restartAt, budgetExceeded }: SessionRecord): boolean {
  return (status === "failed" || status === "lost") && restartAt === null && budgetExceeded === null;
}

type Apply = { [T in HoldfastEvent["type"]]?: (db: DatabaseSync, event: Extract<HoldfastEvent, { type: T }>) => void };

export const messagesProjection: Projection = {
  tables: ["messages"],
  apply(db, event) {
    const apply = APPLY[event.type] as ((db: DatabaseSync, event: HoldfastEvent) => void) | undefined;
    apply?.(db, event);
  },
};

const APPLY: Apply = {
  "message.queued"(db, { session, actor, at, seq, data }) {
    const { id, text, addition = null, steer } = data;
    const row = { id, session, seq, sender: actor, text, addition, steer: steer ? 1 : 0, state: "queued", queued_at: at };
    insertRow(db, "messages", row);
  },
  "message.injecting"(db, { data }) {
    db.prepare("UPDATE messages SET state = 'injecting', run = ?, via = ?, working = ?, why = NULL WHERE id = ?").run(
      data.run,
      data.via,
      data.working ? 1 : 0,
      data.id,
    );
  },
  "message.requeued"(db, { data }) {
    db.prepare("UPDATE messages SET state = 'queued', run = NULL, via = NULL, why = ? WHERE id = ?").run(data.why, data.id);
  },
  "message.injected"(db, { at, data }) {
    db.prepare("UPDATE messages SET state = 'injected', run = ?, via = ?, injected_at = ? WHERE id = ?").run(
      data.run,
      data.via,
      at,
      data.id,
    );
  },
  "message.settled"(db, { data }) {
    db.prepare("UPDATE messages SET open = 0, why = ? WHERE id = ?").run(data.why, data.id);
  },
  // Also after one that was given up in doubt.
  "message.turn_started"(db, { at, data }) {
    const sql = `UPDATE messages SET state = 'turn_started', open = 1, run = ?, evidence = ?, turn_started_at = ?, ended_at = NULL, why = NULL,
                   hint = NULL, known = 1 WHERE id = ?`;
    db.prepare(sql).run(data.run, data.evidence, at, data.id);
  },
  "message.replied"(db, { at, data }) {
    db.prepare("UPDATE messages SET state = 'replied', open = 0, reply = ?, ended_at = ? WHERE id = ?").run(data.reply, at, data.id);
  },
  "message.failed"(db, { at, data }) {
    const sql = "UPDATE messages SET state = 'failed', open = 0, why = ?, hint = ?, known = ?, ended_at = ? WHERE id = ?";
    db.prepare(sql).run(data.why, data.hint, data.known ? 1 : 0, at, data.id);
  },
  "message.cancelled"(db, { at, data }) {
    db.prepare("UPDATE messages SET state = 'cancelled', open = 0, ended_at = ? WHERE id = ?").run(at, data.id);
  },
  "session.removed"(db, { session }) {
    db.prepare("DELETE FROM messages WHERE session = ?").run(session);
  },
  "session.snapshot"(db, { session, data }) {
    db.prepare("DELETE FROM messages WHERE session = ?").run(session);
    for (const row of data.messages ?? []) insertRow(db, "messages", row);
  },
};

export class MessageQueries {
  readonly #db: DatabaseSync;
  /** Asked at every look at a screen: preparing it costs more than running it. */
  #open: StatementSync | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(id: string): MessageRecord | undefined {
    return this.#read("SELECT * FROM messages WHERE id = ?", id)[0];
  }

  /** Those of a session of which something may still come, in the order they were sent. */
  open(session: SessionId): MessageRecord[] {
    this.#open ??= this.#db.prepare("SELECT * FROM messages WHERE session = ? AND open = 1 ORDER BY seq");
    const open = this.#open;
    return watched(this.#db, () => open.all(session).map(toRecord));
  }

  /** Given up in this run though the agent may have got them. */
  doubtful(session: SessionId, run: number): MessageRecord[] {
    return this.#read("SELECT * FROM messages WHERE session = ? AND run = ? AND state = 'failed' AND known = 0 ORDER BY seq", session, run);
  }

  /** Whether anything was said to it, or may have been: not what was taken back, nor what is known not to have come there. */
  wasSpokenTo(session: SessionId): boolean {
    const said = "session = ? AND state <> 'cancelled' AND NOT (state = 'failed' AND known = 1)";
    const sql = `SELECT EXISTS (SELECT 1 FROM messages WHERE ${said}) AS found`;
    return watched(this.#db, () => this.#db.prepare(sql).get(session))?.found === 1;
  }

  /** Sessions with open ones. */
  waiting(): SessionId[] {
    const sql = "SELECT DISTINCT session FROM messages WHERE open = 1";
    return watched(this.#db, () => this.#db.prepare(sql).all()).map(({ session }) => session as SessionId);
  }

  /** The newest `limit`, oldest first. */
  list(filter: { session?: SessionId | undefined; states?: readonly MessageState[] | undefined; limit: number }): MessageRecord[] {
    const where: string[] = [];
    const values: string[] = [];
    if (filter.session !== undefined) {
      where.push("session = ?");
      values.push(filter.session);
    }
    if (filter.states !== undefined) {
      where.push(`state IN (${filter.states.map(() => "?").join(", ")})`);
      values.push(...filter.states);
    }
    const condition = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
    return this.#read(`SELECT * FROM messages ${condition} ORDER BY seq DESC LIMIT ?`, ...values, filter.limit).reverse();
  }

  #read(sql: string, ...values: (string | number)[]): MessageRecord[] {
    return watched(this.#db, () => this.#db.prepare(sql).all(...values)).map(toRecord);
  }
}

function toRecord(row: Record<string, unknown>): MessageRecord {
  return {
    id: row.id as string,
    session: row.session as SessionId,
    from: row.sender as Principal,
    text: row.text as string,
    addition: row.addition as string | null,
    steer: row.steer === 1,
    state: row.state as MessageState,
    open: row.open === 1,
    working: row.working === 1,
    run: row.run as number | null,
    via: row.via as string | null,
    evidence: row.evidence as string | null,
    reply: row.reply as string | null,
    why: row.why as string | null,
    hint: row.hint as string | null,
    known: row.known === 1,
    queuedAt: row.queued_at as string,
    injectedAt: row.injected_at as string | null,
    turnStartedAt: row.turn_started_at as string | null,
    endedAt: row.ended_at as string | null,
  };
}
