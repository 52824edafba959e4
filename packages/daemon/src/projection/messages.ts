/**
 * Messages to agents and persons, derived from `message.*` events, and their queries. A session's messages are removed with it; a person's closed
 * messages, when the journal is pruned.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  type HoldfastEvent,
  type Message,
  type MessageState,
  type Principal,
  principalOf,
  type SessionId,
  sessionId,
} from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { LIVE, type SessionRecord } from "./session-queries.ts";
import { insertRow } from "./sessions.ts";
import { statementsOf } from "./statements.ts";

export interface MessageRecord {
  id: string;
  /** Null for a message to a person. */
  session: SessionId | null;
  principal: Principal | null;
  from: Principal;
  group: string | null;
  role: Message["role"];
  sent: string | null;
  thread: string;
  replyTo: string | null;
  expiresAt: string | null;
  /** When it expires, on the monotonic clock. */
  due: string | null;
  text: string;
  /** Nonce of the marker that quotes its text. The sender could not know it. */
  nonce: string;
  addition: string | null;
  steer: boolean;
  state: MessageState;
  /** True if its state may still change. */
  open: boolean;
  /** True if a turn was running when it was handed over. */
  working: boolean;
  /** For a queued message: true if the keeper may already have it. */
  doubt: boolean;
  run: number | null;
  via: string | null;
  evidence: string | null;
  /** The agent's own id of the turn it started, if reported. */
  turnId: string | null;
  reply: string | null;
  why: string | null;
  hint: string | null;
  known: boolean;
  queuedAt: string;
  injectedAt: string | null;
  turnStartedAt: string | null;
  endedAt: string | null;
}

/** True if messages queued for an ended session wait for its next run. After a stop or a normal end, nobody knows whether they are still wanted. */
export function waitsForNextRun({ status, restartAt, budgetExceeded }: SessionRecord): boolean {
  return (status === "failed" || status === "lost") && restartAt === null && budgetExceeded === null;
}

/** A message to a session. */
export type SessionMessage = MessageRecord & { session: SessionId };
/** The fields that decide which message is next. */
export type InLine = Pick<MessageRecord, "id" | "state" | "steer">;

type Apply = { [T in HoldfastEvent["type"]]?: (s: Statements, event: Extract<HoldfastEvent, { type: T }>, db: DatabaseSync) => void };

export const messagesProjection: Projection = {
  tables: ["messages"],
  // Messages to persons have no session, and messages to a coordinator outlive the session that had that role.
  needed: `type LIKE 'message.%' AND json_extract(data, '$.id') IN
             (SELECT id FROM messages WHERE session IS NULL OR (role = 'coordinator' AND open = 1))`,
  apply(db, event) {
    const apply = APPLY[event.type] as ((s: Statements, event: HoldfastEvent, db: DatabaseSync) => void) | undefined;
    apply?.(prepared(db), event, db);
  },
};

const APPLY: Apply = {
  "message.queued"(s, { session, actor, at, seq, data, id: event }) {
    const { id, text, addition = null, steer, to = null, group = null, role = null, sent = null } = data;
    const { replyTo = null, thread = id, expiresAt = null, due = null } = data;
    const where = [session, to, group, role, sent, thread, replyTo, expiresAt, due];
    s.queue.run(id, seq, actor, text, nonceOf(event), addition, steer ? 1 : 0, at, ...where);
  },
  "message.readdressed"(s, { id: event, session, seq, data }) {
    const { id, from, text, addition = null, steer, group, role, sent, thread, queuedAt } = data;
    const { replyTo = null, expiresAt = null, due = null } = data;
    const where = [session, null, group, role, sent, thread, replyTo, expiresAt, due];
    s.queue.run(id, seq, from, text, nonceOf(event), addition, steer ? 1 : 0, queuedAt, ...where);
  },
  "message.injecting": (s, { data }) => void s.injecting.run(data.run, data.via, data.working ? 1 : 0, data.id),
  "message.requeued": (s, { data }) => void s.requeue.run(data.why, data.doubt ? 1 : 0, data.id),
  "message.injected": (s, { at, data }) => void s.injected.run(data.run, data.via, at, data.working ? 1 : 0, data.id),
  "message.read": (s, { at, data }) => void s.read.run(at, data.read ?? null, data.id),
  "message.answered": (s, { at, data }) => void s.answer.run(data.reply, at, data.id),
  "message.settled": (s, { data }) => void s.settle.run(data.why, data.id),
  // Also valid after the message was given up in doubt.
  "message.turn_started": (s, { at, data }) => void s.turn.run(data.run, data.evidence, data.turn ?? null, at, data.id),
  "message.replied": (s, { at, data }) => void s.reply.run(data.reply, at, data.id),
  "message.failed": (s, { at, data }) => void s.fail.run(data.why, data.hint, data.known ? 1 : 0, at, data.id),
  "message.cancelled": (s, { at, data }) => void s.cancel.run(at, data.id),
  "journal.pruned": (s, { data }) => void s.forget.run(data.before),
  "session.removed": (s, { session }) => void s.remove.run(session),
  "session.snapshot"(s, { session, data }, db) {
    s.remove.run(session);
    for (const row of data.messages ?? []) {
      // It may have come from another session, for which an older event still exists.
      s.forgetOne.run(String(row.id));
      insertRow(db, "messages", row);
    }
  },
};

/** An event's id is random and unknown before the event is in the journal. */
function nonceOf(event: string): string {
  return event.replaceAll("-", "").slice(0, 8);
}

const SQL = {
  queue: `INSERT OR REPLACE INTO messages (id, seq, sender, text, nonce, addition, steer, state, queued_at, session, principal, group_path, role, sent, thread,
            reply_to, expires_at, due)
          VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  injecting: "UPDATE messages SET state = 'injecting', run = ?, via = ?, working = ?, why = NULL WHERE id = ?",
  requeue: "UPDATE messages SET state = 'queued', run = NULL, via = NULL, why = ?, doubt = ? WHERE id = ?",
  injected: "UPDATE messages SET state = 'injected', run = ?, via = ?, injected_at = ?, working = max(working, ?) WHERE id = ?",
  read: "UPDATE messages SET state = 'injected', open = 0, via = 'read', injected_at = ?, read_id = ?, why = NULL WHERE id = ?",
  answer: "UPDATE messages SET state = 'replied', open = 0, reply = ?, ended_at = ?, why = NULL WHERE id = ?",
  settle: "UPDATE messages SET open = 0, why = ? WHERE id = ?",
  turn: `UPDATE messages SET state = 'turn_started', open = 1, run = ?, evidence = ?, turn_id = ?, turn_started_at = ?, ended_at = NULL,
           why = NULL, hint = NULL, known = 1 WHERE id = ?`,
  reply: "UPDATE messages SET state = 'replied', open = 0, reply = ?, ended_at = ? WHERE id = ?",
  fail: "UPDATE messages SET state = 'failed', open = 0, why = ?, hint = ?, known = ?, ended_at = ? WHERE id = ?",
  cancel: "UPDATE messages SET state = 'cancelled', open = 0, ended_at = ? WHERE id = ?",
  forget: "DELETE FROM messages WHERE session IS NULL AND open = 0 AND coalesce(ended_at, injected_at) < ?",
  forgetOne: "DELETE FROM messages WHERE id = ?",
  remove: "DELETE FROM messages WHERE session = ? AND NOT (role IS 'coordinator' AND open = 1 AND state = 'queued' AND doubt = 0)",
} as const;

type Statements = Record<keyof typeof SQL, StatementSync>;

const prepared = statementsOf(SQL);

/** A queued message for a group's coordinator is only for the current one: not for a former or ended coordinator. */
const IN_LINE = `NOT (m.role IS 'coordinator' AND m.state = 'queued' AND m.doubt = 0 AND NOT EXISTS (
  SELECT 1 FROM group_members g JOIN sessions s ON s.id = g.session
  WHERE g.path = m.group_path AND g.session = m.session AND g.coordinator = 1 AND (s.status IN ${LIVE} OR s.restart_at IS NOT NULL)))`;

const UNREAD = `open = 1 AND state = 'queued' AND doubt = 0 AND ${IN_LINE} AND NOT EXISTS (
  SELECT 1 FROM messages b WHERE b.session = m.session AND b.open = 1 AND b.sender = m.sender AND b.seq < m.seq
    AND (b.state = 'injecting' OR (b.state = 'queued' AND b.doubt = 1)))`;

export interface MessageFilter {
  session?: SessionId | undefined;
  person?: Principal | undefined;
  thread?: string | undefined;
  states?: readonly MessageState[] | undefined;
  /** Only messages to these sessions or from these principals. */
  within?: { sessions: readonly SessionId[]; senders: readonly Principal[] } | undefined;
  limit: number;
}

export class MessageQueries {
  readonly #db: DatabaseSync;
  /** Cached, because some run at every look at a screen and preparing costs more than running. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(id: string): MessageRecord | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  /** Returns a session's open messages in the order they were sent. */
  open(session: SessionId): SessionMessage[] {
    return this.#read(`AS m WHERE session = ? AND open = 1 AND ${IN_LINE} ORDER BY seq`, session) as SessionMessage[];
  }

  /** Like `open`, without the text: there may be hundreds, and only one is next. */
  line(session: SessionId): InLine[] {
    const sql = `SELECT id, state, steer FROM messages m WHERE session = ? AND open = 1 AND ${IN_LINE} ORDER BY seq`;
    const rows = watched(this.#db, () => this.#prepare(sql).all(session));
    return rows.map(({ id, state, steer }) => ({ id: id as string, state: state as MessageState, steer: steer === 1 }));
  }

  /** Returns messages given up in this run that the agent may have received, or that it has without a reported turn. */
  doubtful(session: SessionId, run: number): SessionMessage[] {
    const where = `WHERE session = ? AND run = ? AND ((state = 'failed' AND known = 0) OR (state = 'injected' AND open = 0 AND via <> 'read'))
                   ORDER BY seq`;
    return this.#read(where, session, run) as SessionMessage[];
  }

  /**
   * Returns messages that the recipient could read now. For a session, excludes messages that may be on their way, and later ones from the same
   * sender.
   */
  unread(whose: { session: SessionId } | { person: Principal }, limit: number): MessageRecord[] {
    if ("session" in whose) return this.#read(`AS m WHERE session = ? AND ${UNREAD} ORDER BY seq LIMIT ?`, whose.session, limit);
    return this.#read(`AS m WHERE principal = ? AND ${UNREAD} ORDER BY seq LIMIT ?`, whose.person, limit);
  }

  countUnread(whose: { session: SessionId } | { person: Principal }): number {
    if ("session" in whose) return this.#count(`AS m WHERE session = ? AND ${UNREAD}`, whose.session);
    return this.#count(`AS m WHERE principal = ? AND ${UNREAD}`, whose.person);
  }

  /** Returns the messages handed out by the read with this id. */
  givenTo(read: string): MessageRecord[] {
    return this.#read("WHERE read_id = ? ORDER BY seq", read);
  }

  /** False for a message to a group's coordinator whose session no longer has that role. */
  isInLine(id: string): boolean {
    return this.#count(`AS m WHERE id = ? AND ${IN_LINE}`, id) > 0;
  }

  /** Returns messages that wait for the group's coordinator, in order. */
  toCoordinator(group: string): SessionMessage[] {
    const where = "WHERE group_path = ? AND role = 'coordinator' AND open = 1 AND state = 'queued' AND doubt = 0 ORDER BY seq";
    return this.#read(where, group) as SessionMessage[];
  }

  /** Returns direct messages among these sessions, not through a group; at most `limit`, newest first. */
  direct(sessions: readonly SessionId[], limit: number): SessionMessage[] {
    const where = `WHERE sent IS NULL AND session IN (SELECT value FROM json_each(?1)) AND sender IN (SELECT 'session:' || value FROM json_each(?1))
                   ORDER BY seq DESC LIMIT ?2`;
    return this.#read(where, JSON.stringify(sessions), limit) as SessionMessage[];
  }

  /** Returns the copies of a group message, in the order of its members. */
  copies(sent: string): SessionMessage[] {
    return this.#read("WHERE sent = ? ORDER BY seq", sent) as SessionMessage[];
  }

  /** Returns the messages of a thread that are not copies. */
  answersIn(thread: string): MessageRecord[] {
    return this.#read("WHERE thread = ? AND sent IS NULL ORDER BY seq", thread);
  }

  /** Returns queued messages with an expiry time. */
  expiring(): MessageRecord[] {
    return this.#read("WHERE expires_at IS NOT NULL AND state = 'queued' ORDER BY expires_at");
  }

  /** True if the session received or may have received a message: not cancelled, and not known to have failed. */
  wasSpokenTo(session: SessionId, since = ""): boolean {
    const where = "WHERE session = ? AND queued_at >= ? AND state <> 'cancelled' AND NOT (state = 'failed' AND known = 1) LIMIT 1";
    return this.#read(where, session, since).length > 0;
  }

  /** True if Holdfast added text to any message to the session since then. */
  wasAddedTo(session: SessionId, since: number): boolean {
    return this.#count("WHERE session = ? AND seq > ? AND addition IS NOT NULL AND state <> 'cancelled'", session, since) > 0;
  }

  /** Returns sessions with open messages. */
  waiting(): SessionId[] {
    const sql = "SELECT DISTINCT session FROM messages WHERE open = 1 AND session IS NOT NULL";
    return watched(this.#db, () => this.#db.prepare(sql).all()).map(({ session }) => sessionId(String(session)));
  }

  /** Returns the newest `limit`, oldest first. */
  list({ session, person, thread, states, within, limit }: MessageFilter): MessageRecord[] {
    const where: string[] = [];
    const values: SQLInputValue[] = [];
    const only = (condition: string, ...given: SQLInputValue[]) => {
      where.push(condition);
      values.push(...given);
    };
    if (session !== undefined) only("session = ?", session);
    if (person !== undefined) only("principal = ?", person);
    if (thread !== undefined) only("(thread = ? OR id = ?)", thread, thread);
    if (states !== undefined) only("state IN (SELECT value FROM json_each(?))", JSON.stringify(states));
    if (within !== undefined) {
      const of = "IN (SELECT value FROM json_each(?))";
      only(`(session ${of} OR sender ${of})`, JSON.stringify(within.sessions), JSON.stringify(within.senders));
    }
    const condition = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
    return this.#read(`${condition} ORDER BY seq DESC LIMIT ?`, ...values, limit).reverse();
  }

  #count(where: string, ...values: SQLInputValue[]): number {
    return Number(watched(this.#db, () => this.#prepare(`SELECT count(*) AS n FROM messages ${where}`).get(...values))?.n ?? 0);
  }

  #read(rest: string, ...values: SQLInputValue[]): MessageRecord[] {
    return watched(this.#db, () => this.#prepare(`SELECT * FROM messages ${rest}`).all(...values)).map(toRecord);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function toRecord(row: Record<string, unknown>): MessageRecord {
  return {
    id: row.id as string,
    session: row.session === null ? null : sessionId(row.session as string),
    principal: row.principal === null ? null : principalOf(row.principal as string),
    from: principalOf(row.sender as string),
    group: row.group_path as string | null,
    role: row.role as Message["role"],
    sent: row.sent as string | null,
    thread: (row.thread as string | null) ?? (row.id as string),
    replyTo: row.reply_to as string | null,
    expiresAt: row.expires_at as string | null,
    due: row.due as string | null,
    text: row.text as string,
    // Messages from before nonces existed.
    nonce: (row.nonce as string | null) ?? (row.id as string),
    addition: row.addition as string | null,
    steer: row.steer === 1,
    state: row.state as MessageState,
    open: row.open === 1,
    working: row.working === 1,
    doubt: row.doubt === 1,
    run: row.run as number | null,
    via: row.via as string | null,
    evidence: row.evidence as string | null,
    turnId: row.turn_id as string | null,
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
