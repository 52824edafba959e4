/**
 * Puts another database in the place of one that is damaged, missing, or not wanted any more. The order is on disk first, and stays
 * until the new database is in its place and says itself what it is; whoever dies in between finds the order and goes on with it.
 *
 * Nothing is deleted: what was there goes to damaged/<time>/. The new one is the best that can be had: what is left of the old one if
 * that is sound, else the newest good backup, or without one an empty one, and from the old one the events after it that can still be read.
 * It begins a new epoch: seq goes on from the last event that is there, and numbers that were lost are used again.
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

/** Why the database is to be replaced, and by what; `doubted` only asks for a thorough look at it. */
export interface RestoreOrder {
  id: string;
  at: string;
  why: RestoreReport["why"] | "doubted";
  what: string;
  /** For a restore on request. */
  backup: string | null;
  /** What is there now is of another home or program: nothing is taken from it. */
  isStrange?: true;
}

/** What the new database says of itself until `journal.restored` does. */
export type PendingReport = Omit<RestoreReport, "sessions">;

const FILES = ["", "-wal", "-shm"];

export function orderRestore(home: Home, order: Omit<RestoreOrder, "id" | "at">): RestoreOrder {
  const whole = { id: randomUUID(), at: new Date().toISOString(), ...order };
  writeFileAtomic(`${home.restoreOrder}.new`, `${JSON.stringify(whole)}\n`);
  renameDurably(`${home.restoreOrder}.new`, home.restoreOrder);
  return whole;
}

/** The order that is not done yet. One that cannot be read was torn before anything was touched: it only asks for a look. */
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

/** One file that needs no other beside it: what is still in a log would be left behind, and closing says nothing of a full disk. */
function foldLog(db: DatabaseSync): void {
  const mode = db.prepare("PRAGMA journal_mode = DELETE").get()?.journal_mode;
  if (mode !== "delete") throw new Error(`the restored database could not be merged into one file: its mode is ${mode}`);
}

/** The report of a restore whose sessions have not been looked at yet. */
export function pendingReport(db: DatabaseSync): PendingReport | undefined {
  const text = metaOf(db, "restore");
  return text === undefined ? undefined : (JSON.parse(text) as PendingReport);
}

/** True when there was something to set aside, now or before a restore that was cut short. */
function setAside(home: Home, aside: string): boolean {
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  for (const suffix of FILES) {
    if (existsSync(home.database + suffix)) renameSync(home.database + suffix, join(aside, `holdfast.db${suffix}`));
  }
  return FILES.some((suffix) => existsSync(join(aside, `holdfast.db${suffix}`)));
}

/** Nothing else was asked for: the database stays, or comes back if a restore was cut short after it had been set aside. */
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

/** Copies a database with its log, and says whether every page of the copy is good. Its schema is brought up to date later. */
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
    // A full disk or a directory that cannot be read says nothing about the copy: better no start than one without it.
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
