/**
 * One daemon per home, for life: an exclusive SQLite transaction that is held open. The kernel releases it however the
 * process ends, so a lock can never be stale; Node has no flock.
 */
import { existsSync, truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { type Home, isSameProcess, readJsonFile } from "@holdfast/platform";
import { isDamage } from "./journal/database.ts";

/** Undefined while another daemon holds the home. */
export function takeHome(home: Home): DatabaseSync | undefined {
  const isNew = !existsSync(home.lock);
  const lock = takeLock(home.lock);
  // The lock file was deleted under a running daemon: our lock is not on the file that it holds.
  if (lock && isNew && recordedDaemonLives(home)) {
    lock.close();
    return undefined;
  }
  return lock;
}

/** The file's content does not matter if SQLite accepts it as a database; otherwise the file is emptied in place. */
export function takeLock(path: string): DatabaseSync | undefined {
  try {
    return tryLock(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    truncateSync(path, 0);
    return tryLock(path);
  }
}

function tryLock(path: string): DatabaseSync | undefined {
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

function recordedDaemonLives(home: Home): boolean {
  const file = readJsonFile(home.daemonFile) as { pid?: unknown; start?: unknown } | undefined;
  return typeof file?.pid === "number" && typeof file.start === "string" && isSameProcess(file.pid, file.start);
}

const SQLITE_BUSY = 5;
