/**
 * A thread of its own that copies the database page by page inside one read transaction, and reads every page of the copy. The
 * daemon appends meanwhile: on its own connection the copy would hold it up by hundreds of milliseconds.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { checkEveryValue } from "./condition.ts";
import { isDamage, versionOf } from "./database.ts";

export interface CopyOrder {
  source: string;
  target: string;
  /** Whether a daemon appends to the source meanwhile. Without one its log is left as it is: it is how the next start knows the end. */
  live: boolean;
}

/** `damage`: the copy is exact, and so is what is wrong with it. */
export type CopyOutcome = { seq: number; version: number; damage: string | undefined } | { failed: string };

/** Between two steps the thread can be ended; within one, nothing waits for it. */
const PAGES_PER_STEP = 1000;

/** 16 MB. */
const PAGES_PER_SYNC = 4000;

/** The first takes long enough for more to come. */
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
  // The transaction begins with its first read, and is what makes all steps see the same pages.
  from.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
  // Open to the end: closing it would take SQLite's own locks of the file away.
  const file = openSync(target, "a", 0o600);
  try {
    await backup(from, target, { rate: PAGES_PER_STEP, progress: syncNowAndThen(file) });
  } finally {
    closeSync(file);
  }
  from.exec("COMMIT");
}

/** All at once at the end, the disk would be busy with it for a second, and a file system that orders its writes lets everybody wait. */
function syncNowAndThen(file: number): (state: { totalPages: number; remainingPages: number }) => void {
  let synced = 0;
  return ({ totalPages, remainingPages }) => {
    if (totalPages - remainingPages < synced + PAGES_PER_SYNC) return;
    synced = totalPages - remainingPages;
    fdatasyncSync(file);
  };
}

/** Its bytes are on the disk before it gets its name. */
function syncTarget(): void {
  const file = openSync(target, "r");
  fsyncSync(file);
  closeSync(file);
}

/** The log has grown while the copy was made; emptying it takes a wait for the disk, which the daemon's own thread must not do. */
function checkpoint(): void {
  using db = new DatabaseSync(source);
  db.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

function check(): CopyOutcome {
  using copy = new DatabaseSync(target);
  // One file that needs no other beside it.
  copy.exec("PRAGMA journal_mode = DELETE");
  checkEveryValue(copy);
  const seq = Number(copy.prepare("SELECT coalesce(max(seq), 0) AS seq FROM events").get()?.seq);
  return { seq, version: versionOf(copy), damage: undefined };
}
