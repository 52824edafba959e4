/** Checks that a database has everything its migrations created. */
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { unwritable } from "@holdfast/contract";

const MARK = "schema";

/** Replaying all migrations takes milliseconds, so it is done once per database and list of migrations. */
export function isMarked(db: DatabaseSync, steps: readonly string[]): boolean {
  return db.prepare("SELECT value FROM meta WHERE key = ?").get(MARK)?.value === printOf(steps);
}

/** Records that these migrations were checked. Without disk space, the check is repeated next time. */
export function mark(db: DatabaseSync, steps: readonly string[]): void {
  try {
    if (!isMarked(db, steps)) db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(MARK, printOf(steps));
  } catch (error) {
    if (!unwritable(error)) throw error;
  }
}

function printOf(steps: readonly string[]): string {
  return createHash("sha256").update(steps.join("\n")).digest("hex");
}

const COLUMNS = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
                 WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`;

/** Returns the first missing table or column, or undefined. Additional ones do no harm. */
export function lacking(db: DatabaseSync, steps: readonly string[]): string | undefined {
  using right = new DatabaseSync(":memory:");
  for (const step of steps) right.exec(step);
  const there = columnsOf(db);
  for (const [table, columns] of columnsOf(right)) {
    const found = there.get(table);
    if (!found) return `table ${table}`;
    for (const column of columns) if (!found.has(column)) return `column ${column} in its table ${table}`;
  }
  return undefined;
}

function columnsOf(db: DatabaseSync): Map<string, Set<string>> {
  const tables = new Map<string, Set<string>>();
  for (const { table, column } of db.prepare(COLUMNS).all()) {
    const columns = tables.get(String(table)) ?? new Set();
    tables.set(String(table), columns.add(String(column)));
  }
  return tables;
}
