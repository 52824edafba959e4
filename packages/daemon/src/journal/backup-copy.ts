/**
 * A worker thread that copies the database page by page inside one read transaction, and checks every page of the copy. On the daemon's own
 * connection, the copy would block appends for hundreds of milliseconds.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { checkEveryValue } from "./condition.ts";
import { isDamage, versionOf } from "./database.ts";

export interface CopyOrder {
  source: string;
  target: string;
  /** True if a daemon appends to the source meanwhile. Otherwise its log must stay as it is: the next start finds the end by it. */
  live: boolean;
}

/** `damage`: the damage found in the copy, which is that of the source. */
export type CopyOutcome = { seq: number; version: number; damage: string | undefined } | { failed: string };

/** The thread can be ended only between two steps; within a step, nothing waits for it. */
const PAGES_PER_STEP = 1000;

/** 16 MB. */
const PAGES_PER_SYNC = 4000;

/** The first checkpoint takes long enough for new writes to arrive. */
const CHECKPOINTS = 3;

const { source, target, live } = workerData as CopyOrder;
parentPort?.postMessage(await copy().catch((error: Error): CopyOutcome => ({ failed: error.message })));

async function copy(): Promise<CopyOutcome> {
  try {
    await copyPages();
    const outcome = check();
    syncTarget();
    for (let i = 0; live && i < CHECKPOINTS; i++) checkpoint();
    return outcome;
  } catch (error) {
    if (isDamage(error)) return { seq: 0, version: 0, damage: (error as Error).message };
    throw error;
  }
}

async function copyPages(): Promise<void> {
  using from = new DatabaseSync(source, { readOnly: true });
  // The transaction starts with its first read, so that all steps see the same pages.
  from.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
  // Keep it open until the end: closing it would drop SQLite's locks on the file.
  const file = openSync(target, "a", 0o600);
  try {
    await backup(from, target, { rate: PAGES_PER_STEP, progress: syncNowAndThen(file) });
  } finally {
    closeSync(file);
  }
  from.exec("COMMIT");
}

/** Syncing everything at the end would keep the disk busy for a second, and an ordered file system would make other writers wait. */
function syncNowAndThen(file: number): (state: { totalPages: number; remainingPages: number }) => void {
  let synced = 0;
  return ({ totalPages, remainingPages }) => {
    if (totalPages - remainingPages < synced + PAGES_PER_SYNC) return;
    synced = totalPages - remainingPages;
    fdatasyncSync(file);
  };
}

/** The data must be on disk before the file gets its name. */
function syncTarget(): void {
  const file = openSync(target, "r");
  fsyncSync(file);
  closeSync(file);
}

/** The log grew during the copy. Emptying it waits for the disk, which the daemon's own thread must not do. */
function checkpoint(): void {
  using db = new DatabaseSync(source);
  db.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

function check(): CopyOutcome {
  using copy = new DatabaseSync(target);
  // Makes the copy a single file.
  copy.exec("PRAGMA journal_mode = DELETE");
  checkEveryValue(copy);
  const seq = Number(copy.prepare("SELECT coalesce(max(seq), 0) AS seq FROM events").get()?.seq);
  return { seq, version: versionOf(copy), damage: undefined };
}
