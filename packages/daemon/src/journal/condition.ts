/**
 * What is there of the database, found out without changing a byte of it: it may be set aside as it is. What is looked at on each
 * start is cheap; every page is read (`PRAGMA quick_check`) when the database is small, or there is a reason to doubt it. The rest is
 * looked through with each backup, which is checked page by page.
 */
import { readdirSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Home } from "@holdfast/platform";
import { Damage, isDamage, isWrongSchema, newer, versionOf } from "./database.ts";
import { walDamage } from "./wal.ts";

export type Condition = { state: "new" } | { state: "good"; version: number } | { state: "damaged"; what: string };

/** Reading every page takes a millisecond per megabyte: so much is no burden on a start. */
const SMALL_BYTES = 64 << 20;

/** A version beyond it is no version, but damage. */
const MOST_VERSIONS = 10_000;

/** `known`: the newest schema that can be read. `canRebuild`: whether the session's own files say what it is and that it has run. */
export interface Looks {
  doubted: boolean;
  known: number;
  canRebuild(session: string): boolean;
}

export function conditionOf(home: Home, options: Looks): Condition {
  const wal = sizeOf(`${home.database}-wal`);
  const size = sizeOf(home.database);
  if (!size) {
    if (!wal && !hasPast(home)) return { state: "new" };
    return { state: "damaged", what: size === undefined ? "it is missing" : "it is empty" };
  }
  const broken = walDamage(`${home.database}-wal`);
  if (broken !== undefined) return { state: "damaged", what: broken };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(home.database, { readOnly: true });
    const version = examine(db, { home, size, ...options });
    const cut = version === 0 ? undefined : cutShort(db, { home, hasLog: Boolean(wal), ...options });
    return cut === undefined ? { state: "good", version } : { state: "damaged", what: cut };
  } catch (error) {
    if (!isDamage(error) && !isWrongSchema(error)) throw error;
    return { state: "damaged", what: (error as Error).message };
  } finally {
    db?.close();
  }
}

/** Throws `Damage` when a page or a row cannot be right, or a value of the tables that decide what is shown and done. */
export function checkEveryPage(db: DatabaseSync): void {
  const found = Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
  if (found !== "ok") throw new Damage(String(found).replace("*** in database main ***\n", "").replaceAll("\n", "; "));
  const unreadable = db.prepare("SELECT seq FROM events WHERE NOT json_valid(data) LIMIT 1").get();
  if (unreadable) throw new Damage(`event ${unreadable.seq} cannot be read`);
  for (const table of ["meta", "sessions", "runs"]) checkText(db, table);
}

/** Also every event: as thorough as it can be without checksums. Takes seconds for a large journal. */
export function checkEveryValue(db: DatabaseSync): void {
  checkEveryPage(db);
  checkText(db, "events");
}

/** SQLite takes any bytes for text; what is not UTF-8 was never written by us. */
function checkText(db: DatabaseSync, table: string): void {
  const columns = db
    .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE type = 'TEXT'`)
    .all()
    .map(({ name }) => `coalesce(${name}, '')`);
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  for (const { bytes } of db.prepare(`SELECT CAST(${columns.join(" || ")} AS BLOB) AS bytes FROM ${table}`).iterate()) {
    try {
      utf8.decode(bytes as Uint8Array);
    } catch {
      throw new Damage(`a row of ${table} cannot be read`);
    }
  }
}

function examine(db: DatabaseSync, found: Looks & { size: number; home: Home }): number {
  const version = versionOf(db);
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name IN ('meta', 'events') AND type = 'table'").all();
  if (version < 0 || version > MOST_VERSIONS || (version > 0 && tables.length < 2)) throw new Damage("its header or schema is damaged");
  if (version === 0 && hasPast(found.home)) throw new Damage("it has no schema");
  if (version > 0 && (found.doubted || found.size <= SMALL_BYTES || version > found.known)) checkEveryPage(db);
  if (version > 0 && found.doubted) checkEveryValue(db);
  if (version > found.known) throw newer(version, found.known);
  return version;
}

/** Sound, but without its end: the log is gone that the last writer must have left, or sessions are there that it never heard of. */
function cutShort(db: DatabaseSync, found: Looks & { home: Home; hasLog: boolean }): string | undefined {
  const last = db.prepare("SELECT type FROM events ORDER BY seq DESC LIMIT 1").get();
  const pending = db.prepare("SELECT 1 FROM meta WHERE key = 'restore'").get();
  if (last && last.type !== "daemon.stopped" && !found.hasLog && !pending) return "its write-ahead log is missing";
  const unknown = unrecordedRuns(db, found);
  if (unknown > 0 && !pending) return `its end is missing: ${unknown} sessions have run that it does not know`;
  return undefined;
}

/** Only those that a restore would bring back: for others it would be ordered again at each start. */
function unrecordedRuns(db: DatabaseSync, { home, canRebuild }: Looks & { home: Home }): number {
  const known = new Set(
    db
      .prepare("SELECT id FROM sessions")
      .all()
      .map(({ id }) => id),
  );
  const event = db.prepare("SELECT 1 FROM events WHERE session = ? LIMIT 1");
  return list(home.sessions).filter((id) => !known.has(id) && !event.get(id) && canRebuild(id)).length;
}

/** Traces of a life before this start. */
function hasPast(home: Home): boolean {
  return [home.sessions, home.backups, home.setAside].some((directory) => list(directory).length > 0);
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
