/** Approvals, derived from `approval.*` events. A resolved approval keeps its row as long as its session has one. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type Approval,
  type ApprovalStatus,
  type Decision,
  type EventData,
  HoldfastError,
  type SessionId,
  sessionId,
} from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

const STATUS_OF: Readonly<Record<Decision, ApprovalStatus>> = { allow: "allowed", deny: "denied", answer: "answered" };

/** Fields of an approval that only the agent's own screen shows. */
export const ON_SCREEN = {
  channel: "screen",
  expiresAt: null,
  otherwise: "the agent asks only on its own screen",
  reasons: false,
  ask: null,
} as const;

export const approvalsProjection: Projection = {
  tables: ["approvals"],
  apply(db, event) {
    const { type, session, at, seq, actor } = event;
    if (type === "approval.requested") {
      db.prepare(
        "INSERT INTO approvals (id, session, run, requested_seq, requested_at, asked, status) VALUES (?, ?, ?, ?, ?, ?, 'open')",
      ).run(event.data.id, session, event.data.run, seq, at, JSON.stringify(event.data));
    } else if (type === "approval.answered") {
      const { id, decision, reason, always = false } = event.data;
      const sql = "UPDATE approvals SET status = ?, ended_at = ?, answered_by = ?, reason = ?, always = ? WHERE id = ? AND status = 'open'";
      db.prepare(sql).run(STATUS_OF[decision], at, actor, reason, Number(always), id);
    } else if (type === "approval.reopened") {
      const { id, dialog } = event.data;
      const row = db.prepare("SELECT asked FROM approvals WHERE id = ?").get(id);
      if (!row) return;
      const asked = { ...(JSON.parse(String(row.asked)) as EventData<"approval.requested">), ...ON_SCREEN, dialog };
      const sql =
        "UPDATE approvals SET asked = ?, status = 'open', ended_at = NULL, answered_by = NULL, reason = NULL, always = 0 WHERE id = ?";
      db.prepare(sql).run(JSON.stringify(asked), id);
    } else if (type === "approval.resolved") {
      db.prepare("UPDATE approvals SET status = ?, ended_at = ? WHERE id = ? AND status = 'open'").run(event.data.how, at, event.data.id);
    } else if (type === "session.ended") {
      // Also resolves approvals for which no daemon recorded an event.
      const sql = "UPDATE approvals SET status = 'run_ended', ended_at = ? WHERE session = ? AND run = ? AND status = 'open'";
      db.prepare(sql).run(at, session, event.data.run);
    } else if (type === "session.removed" || type === "session.snapshot") {
      db.prepare("DELETE FROM approvals WHERE session = ?").run(session);
      if (type === "session.snapshot") for (const row of event.data.approvals ?? []) insertRow(db, "approvals", row);
    }
  },
};

/** Includes fields that only the daemon needs: the waiting hook, the dialog on the screen, and whether the agent must not ask again. */
export type ApprovalRecord = Omit<Approval, "answers" | "ask" | "digest"> &
  Pick<EventData<"approval.requested">, "ask" | "dialog"> & { always: boolean };

const SELECT = "SELECT a.*, s.name, s.agent FROM approvals a JOIN sessions s ON s.id = a.session";

/** Most candidates in an error. */
const CANDIDATES = 10;

export class ApprovalQueries {
  readonly #db: DatabaseSync;
  #open: StatementSync | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Oldest first. */
  list(filter: { open?: boolean; sessions?: readonly SessionId[] | undefined } = {}): ApprovalRecord[] {
    const where = [filter.open ? "a.status = 'open'" : "true"];
    const values: string[] = [];
    if (filter.sessions) {
      where.push("a.session IN (SELECT value FROM json_each(?))");
      values.push(JSON.stringify(filter.sessions));
    }
    const sql = `${SELECT} WHERE ${where.join(" AND ")} ORDER BY a.requested_seq`;
    return watched(this.#db, () => this.#db.prepare(sql).all(...values)).map(toApproval);
  }

  /** Called at every look at a screen, so its statement is cached. */
  openOf(session: SessionId, run: number): ApprovalRecord[] {
    this.#open ??= this.#db.prepare(`${SELECT} WHERE a.status = 'open' AND a.session = ? AND a.run = ? ORDER BY a.requested_seq`);
    const open = this.#open;
    return watched(this.#db, () => open.all(session, run)).map(toApproval);
  }

  get(id: string): ApprovalRecord | undefined {
    const row = watched(this.#db, () => this.#db.prepare(`${SELECT} WHERE a.id = ?`).get(id));
    return row && toApproval(row);
  }

  /** Returns the approval of this hook, open or not: a hook keeps one name, and asks once. */
  byAsk(session: SessionId, run: number, ask: string): ApprovalRecord | undefined {
    // Not with SQLite's JSON functions, which reject deep nesting.
    const sql = `${SELECT} WHERE a.session = ? AND a.run = ? AND instr(a.asked, ?) > 0`;
    const rows = watched(this.#db, () => this.#db.prepare(sql).all(session, run, JSON.stringify(ask)));
    return rows.map(toApproval).find((approval) => approval.ask === ask);
  }

  /** Returns when a run's approvals were answered, by anybody, and in which dialog. */
  answered(session: SessionId, run: number): { at: string; dialog: string | null }[] {
    const sql = `${SELECT} WHERE a.session = ? AND a.run = ? AND a.answered_by IS NOT NULL ORDER BY a.requested_seq DESC LIMIT 20`;
    const rows = watched(this.#db, () => this.#db.prepare(sql).all(session, run)).map(toApproval);
    return rows.map(({ endedAt, dialog }) => ({ at: endedAt ?? "", dialog }));
  }

  /** Resolves an id, an id prefix of an open approval, or the name of a session with one open approval. */
  resolve(ref: string, within?: readonly SessionId[]): ApprovalRecord {
    const exact = this.get(ref);
    if (exact && (within?.includes(exact.session) ?? true)) return exact;
    const open = this.list({ open: true, sessions: within });
    const named = open.filter(({ name, session }) => name === ref.normalize("NFC") || session === ref);
    const meant = named.length > 0 || ref === "" ? named : open.filter(({ id }) => id.startsWith(ref));
    if (meant.length === 1 && meant[0]) return meant[0];
    const several = meant.length > 1;
    throw new HoldfastError(
      several ? "approval_ambiguous" : "approval_not_found",
      several ? `${JSON.stringify(ref)} waits for ${meant.length} approvals` : `no open approval matches ${JSON.stringify(ref)}`,
      {
        hint: "list approvals: holdfast approvals",
        candidates: (several ? meant : open).slice(0, CANDIDATES).map(({ id }) => id),
      },
    );
  }
}

function toApproval(row: Record<string, unknown>): ApprovalRecord {
  const asked = JSON.parse(String(row.asked)) as EventData<"approval.requested">;
  return {
    ...asked,
    session: sessionId(row.session as string),
    name: row.name as string,
    agent: row.agent as string,
    status: row.status as ApprovalStatus,
    requestedAt: row.requested_at as string,
    endedAt: row.ended_at as string | null,
    answeredBy: row.answered_by as Approval["answeredBy"],
    reason: row.reason as string | null,
    always: row.always === 1,
  };
}
