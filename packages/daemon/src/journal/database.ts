import { DatabaseSync, type StatementSync } from "node:sqlite";
import { HoldfastError } from "@holdfast/contract";
import { MIGRATIONS } from "./migrations.ts";

/** WAL with synchronous=NORMAL: a killed process loses no committed data. Only a power cut can lose the last moments, and never consistency. */
export function openDatabase(path: string, options: { migrations?: readonly string[] } = {}): DatabaseSync {
  const db = new PreparedDatabase(path);
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;");
    migrate(db, options.migrations);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** Further statements are not cached: SQL built for one query must not stay forever. */
const MOST_STATEMENTS = 500;

/**
 * Caches prepared statements, because preparing costs more than running most of them. Callers share a statement, so it must not be iterated within
 * itself.
 */
class PreparedDatabase extends DatabaseSync {
  readonly #statements = new Map<string, StatementSync>();

  override prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = super.prepare(sql);
    if (this.#statements.size < MOST_STATEMENTS) this.#statements.set(sql, statement);
    return statement;
  }
}

export function migrate(db: DatabaseSync, migrations: readonly string[] = MIGRATIONS): void {
  const version = versionOf(db);
  if (version > migrations.length) throw newer(version, migrations.length);
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    transaction(db, () => {
      db.exec(sql);
      db.exec(`PRAGMA user_version = ${index + 1}`);
    });
  }
}

export function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}

export function newer(version: number, known: number): HoldfastError {
  return new HoldfastError("daemon_outdated", `the database is from a newer Holdfast (schema ${version}; this version knows ${known})`, {
    hint: "install the newer Holdfast; nothing was changed",
  });
}

/** Invalid content that Holdfast's own checks found in a database. */
export class Damage extends Error {}

/** SQLITE_CORRUPT and SQLITE_NOTADB with their extended codes, and `Damage`. */
export function isDamage(error: unknown): boolean {
  const code = ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff;
  return error instanceof Damage || code === 11 || code === 26;
}

/** SQLITE_ERROR: Holdfast's statements fail like this only if a table or column is missing. */
export function isWrongSchema(error: unknown): boolean {
  return (error as { errcode?: number } | undefined)?.errcode === 1;
}

const listeners = new WeakMap<DatabaseSync, (error: Error) => void>();

/** Calls the listener when a query finds damage. The query still fails. */
export function onDamage(db: DatabaseSync, listener: (error: Error) => void): void {
  listeners.set(db, listener);
}

/** Every query runs through here or `transaction`, so that no damage goes unnoticed. */
export function watched<T>(db: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    listeners.get(db)?.(error as Error);
    throw new HoldfastError("journal_damaged", `the journal's database is damaged: ${(error as Error).message}`, {
      hint: "it is being restored from the newest backup and its readable parts; try again in a moment",
      cause: error,
    });
  }
}

export function transaction<T>(db: DatabaseSync, work: () => T): T {
  return watched(db, () => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  });
}
