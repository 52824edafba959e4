/**
 * The turns of sessions and the last reply of each run, derived from events. Bounded: the newest turns of a session, and the replies of its newest
 * runs. Runs after the sessions projection, which counts the turns.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DigestTurn, HoldfastEvent, SessionId } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";
import { statementsOf } from "./statements.ts";

const MOST_TURNS = 1000;
const MOST_REPLIES = 20;

type Apply = { [T in HoldfastEvent["type"]]?: (s: Statements, event: Extract<HoldfastEvent, { type: T }>, db: DatabaseSync) => void };

export const turnsProjection: Projection = {
  tables: ["turns", "replies"],
  apply(db, event) {
    const apply = APPLY[event.type] as ((s: Statements, e: HoldfastEvent, db: DatabaseSync) => void) | undefined;
    apply?.(prepared(db), event, db);
  },
};

const APPLY: Apply = {
  "session.status_changed"(s, { session, seq, at, data }) {
    const { turn, turnBegan, since, attention } = data;
    if (turnBegan || turn !== "working") s.end.run(seq, since, session);
    if (turnBegan) {
      s.begin.run(data.run, seq, since, session);
      s.forget.run(session);
    } else if (turn === "working") {
      // The turn had only seemed to be over.
      s.goOn.run(session);
    }
    if (attention?.for === "rate_limit") s.limit.run(seq, at, attention.text ?? "", session);
  },
  "session.turn_failed": (s, { session, data }) => void s.fail.run(data.toldAt, session, data.turn),
  "session.replied"(s, { session, data }) {
    s.reply.run(session, data.run, data.turn, data.toldAt, data.reply, data.cut ? 1 : 0);
    s.forgetReplies.run(session, data.run - MOST_REPLIES);
  },
  "session.ended": (s, { session, seq, data }) => void s.end.run(seq, data.endedAt, session),
  "session.removed": (s, { session }) => clear(s, session),
  "session.snapshot"(s, { session, data }, db) {
    clear(s, session);
    for (const turn of data.turns ?? []) insertRow(db, "turns", turn);
    for (const reply of data.replies ?? []) insertRow(db, "replies", reply);
  },
};

function clear(s: Statements, session: SessionId | null): void {
  s.remove.run(session);
  s.removeReplies.run(session);
}

const LAST = "turn = (SELECT max(turn) FROM turns WHERE session = ?1)";

const SQL = {
  begin: `INSERT OR REPLACE INTO turns (session, turn, run, began_seq, began_at)
          SELECT id, turns, ?1, ?2, ?3 FROM sessions WHERE id = ?4`,
  // A turn never ends before it starts, even if the clock was set back.
  end: "UPDATE turns SET ended_seq = ?1, ended_at = max(began_at, ?2) WHERE session = ?3 AND ended_seq IS NULL",
  goOn: `UPDATE turns SET ended_seq = NULL, ended_at = NULL WHERE session = ?1 AND ended_seq IS NOT NULL AND ${LAST}`,
  forget: `DELETE FROM turns WHERE session = ?1 AND turn <= (SELECT turns - ${MOST_TURNS} FROM sessions WHERE id = ?1)`,
  fail: "UPDATE turns SET failed_at = ? WHERE session = ? AND turn = ?",
  limit: `UPDATE turns SET limited_seq = coalesce(limited_seq, ?1), limited_at = coalesce(limited_at, ?2), limited_text = ?3
          WHERE session = ?4 AND turn = (SELECT max(turn) FROM turns WHERE session = ?4)`,
  reply: "INSERT OR REPLACE INTO replies (session, run, turn, told_at, reply, cut) VALUES (?, ?, ?, ?, ?, ?)",
  forgetReplies: "DELETE FROM replies WHERE session = ? AND run <= ?",
  remove: "DELETE FROM turns WHERE session = ?",
  removeReplies: "DELETE FROM replies WHERE session = ?",
} as const;

type Statements = Record<keyof typeof SQL, StatementSync>;

const prepared = statementsOf(SQL);

export interface ReplyRecord {
  run: number;
  turn: number;
  toldAt: string;
  reply: string;
  cut: boolean;
}

/** Turns after a journal position. */
export interface TurnsSince {
  began: number;
  ended: number;
  workedMs: number;
  /** The newest turns, oldest first. */
  list: DigestTurn[];
  limits: { at: string; text: string }[];
}

export class TurnQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Returns the last reply of the newest run that has one. */
  lastReply(session: SessionId): ReplyRecord | undefined {
    const row = this.#get("SELECT * FROM replies WHERE session = ? ORDER BY run DESC LIMIT 1", session);
    return (
      row && {
        run: row.run as number,
        turn: row.turn as number,
        toldAt: row.told_at as string,
        reply: row.reply as string,
        cut: row.cut === 1,
      }
    );
  }

  /** Returns when this turn was reported as failed. */
  failedAt(session: SessionId, turn: number): string | null {
    return (this.#get("SELECT failed_at FROM turns WHERE session = ? AND turn = ?", session, turn)?.failed_at as string | null) ?? null;
  }

  /** Returns the position of the last start or end of a turn up to `seq`; 0 if there is none. */
  lastUpTo(session: SessionId, seq: number): number {
    const row = this.#get(
      `SELECT max(max(CASE WHEN began_seq <= ?2 THEN began_seq ELSE 0 END, CASE WHEN ended_seq <= ?2 THEN ended_seq ELSE 0 END)) AS last
       FROM turns WHERE session = ?1`,
      session,
      seq,
    );
    return Number(row?.last ?? 0);
  }

  since(session: SessionId, { seq, at, list }: { seq: number; at: string; list: number }): TurnsSince {
    const there = "session = ? AND (began_seq > ? OR ended_seq > ? OR ended_seq IS NULL)";
    const counts = this.#get(
      `SELECT sum(began_seq > ?) AS began, sum(ended_seq > ?) AS ended,
         sum(max(0, julianday(coalesce(ended_at, strftime('%Y-%m-%dT%H:%M:%fZ'))) - julianday(max(began_at, ?)))) * 86400000 AS worked
       FROM turns WHERE ${there}`,
      seq,
      seq,
      at,
      session,
      seq,
      seq,
    );
    const rows = this.#all(`SELECT * FROM turns WHERE ${there} ORDER BY turn DESC LIMIT ?`, session, seq, seq, list).reverse();
    const limits = this.#all(
      "SELECT limited_at, limited_text FROM turns WHERE session = ? AND limited_seq > ? ORDER BY turn DESC LIMIT 20",
      session,
      seq,
    );
    return {
      began: Number(counts?.began ?? 0),
      ended: Number(counts?.ended ?? 0),
      workedMs: Math.round(Number(counts?.worked ?? 0)),
      list: rows.map((row) => ({
        turn: row.turn as number,
        run: row.run as number,
        beganAt: row.began_at as string,
        endedAt: row.ended_at as string | null,
      })),
      limits: limits.reverse().map((row) => ({ at: row.limited_at as string, text: row.limited_text as string })),
    };
  }

  #get(sql: string, ...values: (string | number)[]): Record<string, unknown> | undefined {
    return watched(this.#db, () => this.#db.prepare(sql).get(...values));
  }

  #all(sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
    return watched(this.#db, () => this.#db.prepare(sql).all(...values));
  }
}
