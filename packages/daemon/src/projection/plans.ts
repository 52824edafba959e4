/**
 * Declarations of plan files, derived from `plan.*` events, which are never pruned. A removed session's row stays but is not listed. Rows of a
 * group and its values are removed with the group.
 */
import type { DatabaseSync } from "node:sqlite";
import { type Declaration, sessionId, type Undeclared } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";

export const plansProjection: Projection = {
  tables: ["plans"],
  kept: ["plan.declared", "plan.forgotten"],
  apply(db, { type, data, at, seq }) {
    if (type === "plan.declared") {
      const { file, what, ref, key, name, said } = data;
      const sql = `INSERT INTO plans (file, what, ref, key, name, said, at, seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                   ON CONFLICT (file, what, ref, key) DO UPDATE SET name = excluded.name, said = excluded.said`;
      db.prepare(sql).run(file, what, ref, key ?? "", name, JSON.stringify(said), at, seq);
    } else if (type === "plan.forgotten") {
      const { file, what, ref, key } = data;
      db.prepare("DELETE FROM plans WHERE file = ? AND what = ? AND ref = ? AND key = ?").run(file, what, ref, key ?? "");
    } else if (type === "group.removed") {
      db.prepare("DELETE FROM plans WHERE what IN ('group', 'value') AND ref = ?").run(data.group);
    }
  },
};

export class PlanQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  list(file: string): Declaration[] {
    const sql = `SELECT p.*, s.name AS now FROM plans p LEFT JOIN sessions s ON p.what = 'session' AND s.id = p.ref
                 WHERE p.file = ? AND (p.what <> 'session' OR s.id IS NOT NULL) ORDER BY p.seq, p.ref, p.key`;
    return watched(this.#db, () => this.#db.prepare(sql).all(file)).map(toDeclaration);
  }

  get({ file, what, ref, key }: Undeclared): Declaration | undefined {
    return this.list(file).find((each) => each.what === what && each.ref === ref && each.key === key);
  }
}

function toDeclaration(row: Record<string, unknown>): Declaration {
  const what = row.what as Declaration["what"];
  return {
    file: String(row.file),
    what,
    ref: String(row.ref),
    key: what === "value" ? String(row.key) : null,
    name: String(row.name),
    said: JSON.parse(String(row.said)) as Record<string, string>,
    at: String(row.at),
    session: what === "session" ? { id: sessionId(row.ref as string), name: String(row.now) } : null,
  };
}
