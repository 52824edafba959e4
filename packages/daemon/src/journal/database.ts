import { DatabaseSync } from "node:sqlite";
import { HoldfastError } from "@holdfast/contract";
import { MIGRATIONS } from "./migrations.ts";

/**
 * WAL with synchronous=NORMAL: a killed process loses nothing that was committed; only a power cut can lose the last
 * moments, and never consistency.
 */
export function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;");
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

export function migrate(db: DatabaseSync, migrations: readonly string[] = MIGRATIONS): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.user_version);
  if (version > migrations.length) {
    throw new HoldfastError(
      "daemon_outdated",
      `the database is of a newer Holdfast (schema ${version}, this one knows ${migrations.length})`,
      {
        hint: "install the newer Holdfast again; nothing was changed",
      },
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    transaction(db, () => {
      db.exec(sql);
      db.exec(`PRAGMA user_version = ${index + 1}`);
    });
  }
}

export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
