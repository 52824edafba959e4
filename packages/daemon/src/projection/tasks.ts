/** Tasks, derived from `task.started` and `task.ended`. They are removed with their session; its own row has the number completed. */
import type { DatabaseSync } from "node:sqlite";
import { type SessionId, sessionId, type Task, type TaskOutcome } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

export const tasksProjection: Projection = {
  tables: ["tasks"],
  apply(db, event) {
    const { session, at, seq } = event;
    if (event.type === "task.started") {
      const { id, title, file, label, turns } = event.data;
      const sql = "INSERT INTO tasks (session, id, title, file, label, turns, started_at, started_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
      db.prepare(sql).run(session, id, title, file, label, turns, at, seq);
    } else if (event.type === "task.ended") {
      const { id, outcome, why } = event.data;
      const sql = "UPDATE tasks SET ended_at = ?, ended_seq = ?, outcome = ?, why = ? WHERE id = ? AND outcome IS NULL";
      const { changes } = db.prepare(sql).run(at, seq, outcome, why, id);
      if (changes > 0 && outcome === "done")
        db.prepare("UPDATE sessions SET tasks_completed = tasks_completed + 1 WHERE id = ?").run(session);
    } else if (event.type === "session.removed" || event.type === "session.snapshot") {
      db.prepare("DELETE FROM tasks WHERE session = ?").run(session);
      if (event.type === "session.snapshot") for (const task of event.data.tasks ?? []) insertRow(db, "tasks", task);
    }
  },
};

/** More than anybody reads. */
const MOST = 1000;

export class TaskQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(id: string): Task | undefined {
    return this.#read("WHERE t.id = ?", [id])[0];
  }

  /** Returns the newest tasks, oldest first. */
  list(filter: {
    session?: SessionId | undefined;
    file?: string | undefined;
    open?: boolean;
    within?: readonly SessionId[] | undefined;
  }): Task[] {
    const where: string[] = [];
    const values: string[] = [];
    const only = (condition: string, value: string) => {
      where.push(condition);
      values.push(value);
    };
    if (filter.session !== undefined) only("t.session = ?", filter.session);
    if (filter.file !== undefined) only("t.file = ?", filter.file);
    if (filter.within !== undefined) only("t.session IN (SELECT value FROM json_each(?))", JSON.stringify(filter.within));
    if (filter.open) where.push("t.outcome IS NULL");
    return this.#read(where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`, values);
  }

  /** Returns tasks that started or ended after a journal position. */
  since(session: SessionId, seq: number): Task[] {
    return this.#read("WHERE t.session = ? AND max(t.started_seq, coalesce(t.ended_seq, 0)) > ?", [session, seq]);
  }

  /** Returns the journal position of the last start or end of a task, if it is after `seq`. */
  lastAfter(session: SessionId, seq: number): number | undefined {
    const sql = "SELECT max(max(started_seq, coalesce(ended_seq, 0))) AS seq FROM tasks WHERE session = ?";
    const last = watched(this.#db, () => this.#db.prepare(sql).get(session))?.seq as number | null | undefined;
    return last !== null && last !== undefined && last > seq ? last : undefined;
  }

  #read(where: string, values: readonly (string | number)[]): Task[] {
    const sql = `SELECT t.*, s.name FROM tasks t JOIN sessions s ON s.id = t.session ${where} ORDER BY t.started_seq DESC LIMIT ${MOST}`;
    return watched(this.#db, () => this.#db.prepare(sql).all(...values))
      .reverse()
      .map((row) => ({
        id: String(row.id),
        session: sessionId(row.session as string),
        name: String(row.name),
        title: String(row.title),
        file: row.file as string | null,
        label: row.label as string | null,
        turns: Number(row.turns),
        startedAt: String(row.started_at),
        endedAt: row.ended_at as string | null,
        outcome: row.outcome as TaskOutcome | null,
        why: row.why as string | null,
      }));
  }
}
