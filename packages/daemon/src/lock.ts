/**
 * One daemon per home, for life: an exclusive SQLite transaction that is held open. The kernel releases it however the
 * process ends, so a lock can never be stale; Node has no flock.
 */
import { DatabaseSync } from "node:sqlite";

export function takeLock(path: string): DatabaseSync | undefined {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

const SQLITE_BUSY = 5;
