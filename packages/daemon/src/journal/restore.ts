/**
 * Replaces a database that is damaged, missing or no longer wanted. The order is written to disk first, and stays until the new database is in
 * place and records the order's id. After a crash, the next start finds the order and continues.
 *
 * Nothing is deleted: the old files are moved to damaged/<time>/. The new database is the best available: the old one if it is sound, else the
 * newest good backup (or an empty database), plus the later events that can still be read from the old one. It starts a new epoch: `seq` continues
 * from the last event it has, and lost numbers are used again.
 */
import { randomUUID } from "node:crypto";
import { constants, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Backup, HoldfastError, type RestoreReport } from "@holdfast/contract";
import { type Home, isMissing, log, readJsonFile, renameDurably, writeFileAtomic } from "@holdfast/platform";
import type { Backups } from "./backups.ts";
import { checkEveryValue, checkSchema } from "./condition.ts";
import { Damage, isDamage, isWrongSchema, newer, openDatabase, transaction, versionOf } from "./database.ts";
import { strangeness } from "./home-id.ts";
import type { Projection } from "./journal.ts";
import { MIGRATIONS } from "./migrations.ts";
import { lastSeqIn, replayTail } from "./tail.ts";

/** Why to replace the database, and with what. `doubted` only requests a thorough check. */
export interface RestoreOrder {
  id: string;
  at: string;
  why: RestoreReport["why"] | "doubted";
  what: string;
  /** The backup to restore on request. */
  backup: string | null;
  /** The current database belongs to another home or program: nothing is taken from it. */
  isStrange?: true;
}

/** The report stored in the new database until `journal.restored` is appended. */
export type PendingReport = Omit<RestoreReport, "sessions">;

const FILES = ["", "-wal", "-shm"];

export function orderRestore(home: Home, order: Omit<RestoreOrder, "id" | "at">): RestoreOrder {
  const whole = { id: randomUUID(), at: new Date().toISOString(), ...order };
  writeFileAtomic(`${home.restoreOrder}.new`, `${JSON.stringify(whole)}\n`);
  renameDurably(`${home.restoreOrder}.new`, home.restoreOrder);
  return whole;
}

/** Returns the pending order. An unreadable order was torn before anything changed, so it only requests a check. */
export function openOrder(home: Home): RestoreOrder | undefined {
  if (!existsSync(home.restoreOrder)) return undefined;
  const order = readJsonFile(home.restoreOrder) as Partial<RestoreOrder> | undefined;
  const whole = typeof order?.id === "string" && typeof order.at === "string" && typeof order.what === "string";
  if (!whole) return { id: "", at: "", why: "doubted", what: "the restore request is damaged", backup: null };
  return isDone(home, order as RestoreOrder) ? closeOrder(home) : (order as RestoreOrder);
}

export function closeOrder(home: Home): undefined {
  rmSync(home.restoreOrder, { force: true });
}

export function restore(home: Home, order: RestoreOrder, how: { backups: Backups; projections: readonly Projection[] }): void {
  const aside = join(home.setAside, order.at.replace(/[-:.]/g, ""));
  const old = join(aside, "holdfast.db");
  const fresh = `${home.database}.new`;
  const from = { home, fresh, backups: how.backups };
  const asked = order.why === "asked" ? askedBase(order, from) : undefined;
  if (order.why === "asked" && !asked) {
    refuse(home, { order, aside });
    return;
  }
  const moved = setAside(home, aside);
  const base = asked ?? chooseBase({ ...from, old: order.isStrange ? undefined : old });
  using db = openDatabase(fresh);
  const recovered =
    !base.salvaged && order.why !== "asked" && !order.isStrange ? replayTail({ from: old, to: db, projections: how.projections }) : 0;
  const seq = Number(db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM events").get()?.seq);
  const report: PendingReport = {
    why: order.why === "asked" ? "asked" : "damaged",
    what: order.what,
    backup: base.backup && { name: base.backup.name, at: base.backup.at },
    salvaged: base.salvaged,
    seq,
    recovered,
    lost: { until: order.isStrange ? null : (lastSeqIn(old) ?? null) },
    previousEpoch: metaOf(db, "epoch") ?? null,
    setAside: moved ? aside : null,
  };
  transaction(db, () => {
    const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
    set.run("epoch", randomUUID().slice(0, 8));
    set.run("restore", JSON.stringify(report));
    set.run("restore_order", order.id);
  });
  foldLog(db);
  db.close();
  renameDurably(fresh, home.database);
  closeOrder(home);
  log(`the journal was restored (${order.what}): ${JSON.stringify(report)}`);
}

/** Merges the log into one file: a separate log would be left behind, and closing does not report a full disk. */
function foldLog(db: DatabaseSync): void {
  const mode = db.prepare("PRAGMA journal_mode = DELETE").get()?.journal_mode;
  if (mode !== "delete") throw new Error(`the restored database could not be merged into one file: its mode is ${mode}`);
}

/** Returns the report of a restore whose sessions have not been examined yet. */
export function pendingReport(db: DatabaseSync): PendingReport | undefined {
  const text = metaOf(db, "restore");
  return text === undefined ? undefined : (JSON.parse(text) as PendingReport);
}

/** Returns true if there was something to set aside, now or in an interrupted restore. */
function setAside(home: Home, aside: string): boolean {
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  for (const suffix of FILES) {
    if (existsSync(home.database + suffix)) renameSync(home.database + suffix, join(aside, `holdfast.db${suffix}`));
  }
  return FILES.some((suffix) => existsSync(join(aside, `holdfast.db${suffix}`)));
}

/** Keeps the database, or moves it back after an interrupted restore: only that backup was requested. */
function refuse(home: Home, { order, aside }: { order: RestoreOrder; aside: string }): void {
  for (const suffix of FILES) {
    const moved = join(aside, `holdfast.db${suffix}`);
    if (existsSync(moved) && !existsSync(home.database + suffix)) renameSync(moved, home.database + suffix);
  }
  const what = `The backup ${order.backup} could not be restored: it is missing, damaged, or from a newer Holdfast. The journal did not change.`;
  writeFileAtomic(home.notice, `${what}\n`);
  closeOrder(home);
  log(what);
}

type Base = { backup: Backup | null; salvaged: boolean };

type From = { home: Home; fresh: string; backups: Backups };

function askedBase(order: RestoreOrder, { backups, ...to }: From): Base | undefined {
  const backup = backups.list().find(({ name }) => name === order.backup);
  return backup && tryBase(backups.pathOf(backup), to) ? { backup, salvaged: false } : undefined;
}

function chooseBase({ old, backups, ...to }: From & { old: string | undefined }): Base {
  if (old !== undefined && existsSync(old) && tryBase(old, to)) return { backup: null, salvaged: true };
  for (const backup of backups.list()) if (tryBase(backups.pathOf(backup), to)) return { backup, salvaged: false };
  clear(to.fresh);
  return { backup: null, salvaged: false };
}

/** Copies a database with its log, and returns true if every page of the copy is good. Its schema is updated later. */
function tryBase(path: string, { home, fresh: copy }: { home: Home; fresh: string }): boolean {
  clear(copy);
  try {
    for (const suffix of ["", "-wal"]) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
    }
    using db = new DatabaseSync(copy);
    const version = versionOf(db);
    const strange = strangeness(home, db);
    if (strange !== undefined) throw new Damage(strange);
    if (version < 1) throw new Damage("it has no schema");
    if (version > MIGRATIONS.length) throw newer(version, MIGRATIONS.length);
    checkEveryValue(db);
    checkSchema(db, MIGRATIONS);
    return true;
  } catch (error) {
    clear(copy);
    // A full disk or an unreadable directory says nothing about the copy: not starting is better than starting without it.
    if (!isUnusable(error)) throw error;
    log(`nothing can be restored from ${path}: ${(error as Error).message}`);
    return false;
  }
}

function isUnusable(error: unknown): boolean {
  return isDamage(error) || isWrongSchema(error) || isMissing(error) || (error as HoldfastError).code === "daemon_outdated";
}

function clear(path: string): void {
  for (const suffix of [...FILES, "-journal"]) rmSync(path + suffix, { force: true });
}

function isDone(home: Home, order: RestoreOrder): boolean {
  if (!existsSync(home.database)) return false;
  try {
    using db = new DatabaseSync(home.database, { readOnly: true });
    return metaOf(db, "restore_order") === order.id;
  } catch {
    return false;
  }
}

function metaOf(db: DatabaseSync, key: string): string | undefined {
  return db.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.value as string | undefined;
}

export function unusable(backup: Backup): HoldfastError {
  return new HoldfastError("backup_unusable", `the backup ${backup.name} is damaged, or from a newer Holdfast`, {
    hint: "choose another: holdfast backup ls",
  });
}
