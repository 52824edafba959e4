/**
 * Examines the database without changing a byte, because it may have to be set aside as it is. The checks on each start are cheap. Every page is
 * read (`PRAGMA quick_check`) if the database is small or in doubt. Each backup checks the rest, page by page.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { counted, type Home } from "@holdfast/platform";
import { Damage, isDamage, isWrongSchema, newer, versionOf } from "./database.ts";
import { strangeness } from "./home-id.ts";
import { MIGRATIONS } from "./migrations.ts";
import { isMarked, lacking } from "./schema.ts";
import { walDamage } from "./wal.ts";

/** `doubt`: why every value was checked; all were good. `isStrange`: it belongs to another home or program, and nothing in it is ours. */
export type Condition =
  | { state: "new" }
  | { state: "good"; version: number; doubt?: string | undefined }
  | { state: "damaged"; what: string; isStrange?: true };

/** Reading every page takes a millisecond per megabyte, so this size does not slow a start. */
const SMALL_BYTES = 64 << 20;

/** A higher version is damage. */
const MOST_VERSIONS = 10_000;

/** `migrations`: up to the newest known schema. `canRebuild`: true if the session's own files describe it and show that it ran. */
export interface Looks {
  doubted: boolean;
  migrations?: readonly string[];
  canRebuild(session: string): boolean;
}

export function conditionOf(home: Home, options: Looks): Condition {
  const { migrations = MIGRATIONS } = options;
  const known = migrations.length;
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
    const strange = strangeness(home, db);
    if (strange !== undefined) return { state: "damaged", what: strange, isStrange: true };
    const version = examineSchema(db, { home, ...options });
    if (version === 0) return { state: "good", version };
    // SQLite would read the missing part of the last page as zeros. A log may still have the whole page.
    if (!wal && size % pageSizeOf(db) !== 0) throw new Damage("it ends inside a page");
    const doubt = wal ? undefined : withoutLog(db);
    if (options.doubted || doubt !== undefined) checkEveryValue(db);
    else if (size <= SMALL_BYTES || version > known) checkEveryPage(db);
    if (version > known) throw newer(version, known);
    if (options.doubted || doubt !== undefined || !isMarked(db, migrations.slice(0, version))) checkSchema(db, migrations);
    const unknown = isPending(db) ? 0 : unrecordedRuns(db, { home, ...options });
    if (unknown > 0) return { state: "damaged", what: [doubt, endMissing(unknown)].filter(Boolean).join("; ") };
    return { state: "good", version, doubt };
  } catch (error) {
    if (!isDamage(error) && !isWrongSchema(error)) throw error;
    return { state: "damaged", what: (error as Error).message };
  } finally {
    db?.close();
  }
}

/** Throws `Damage` if a page or row is invalid, or a value in the tables that decide what is shown and done. */
export function checkEveryPage(db: DatabaseSync, by: "quick_check" | "integrity_check" = "quick_check"): void {
  const found = Object.values(db.prepare(`PRAGMA ${by}(1)`).get() ?? {})[0];
  if (found !== "ok") throw new Damage(String(found).replace("*** in database main ***\n", "").replaceAll("\n", "; "));
  const unreadable = db.prepare("SELECT seq FROM events WHERE NOT json_valid(data) LIMIT 1").get();
  if (unreadable) throw new Damage(`event ${unreadable.seq} cannot be read`);
  for (const table of ["meta", "sessions", "runs"]) checkText(db, table);
}

/** Also checks every event, and every index against its table: as thorough as possible without checksums. Takes seconds for a large journal. */
export function checkEveryValue(db: DatabaseSync): void {
  checkEveryPage(db, "integrity_check");
  checkText(db, "events");
}

/** Throws `Damage` if the schema lacks something that its version must have: no statement would work. */
export function checkSchema(db: DatabaseSync, migrations: readonly string[]): void {
  const version = versionOf(db);
  const missing = lacking(db, migrations.slice(0, version));
  if (missing !== undefined) throw new Damage(`its schema version is ${version}, but it has no ${missing}`);
}

function pageSizeOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA page_size").get()?.page_size);
}

/** SQLite accepts any bytes as text. Holdfast writes only UTF-8. */
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

function examineSchema(db: DatabaseSync, found: { home: Home }): number {
  const version = versionOf(db);
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name IN ('meta', 'events') AND type = 'table'").all();
  if (version < 0 || version > MOST_VERSIONS || (version > 0 && tables.length < 2)) throw new Damage("its header or schema is damaged");
  if (version === 0 && hasPast(found.home)) throw new Damage("it has no schema");
  return version;
}

/**
 * A killed daemon leaves a log. Any program that opens the database later, such as sqlite3, merges the log and deletes it: that is no damage. A
 * lost log looks the same, unless sessions started in it.
 */
function withoutLog(db: DatabaseSync): string | undefined {
  const last = db.prepare("SELECT type FROM events ORDER BY seq DESC LIMIT 1").get();
  return last && last.type !== "daemon.stopped" && !isPending(db) ? "its write-ahead log is missing" : undefined;
}

/** True just after a restore: the next step examines the other files on disk. */
function isPending(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM meta WHERE key = 'restore'").get() !== undefined;
}

function endMissing(sessions: number): string {
  return `its end is missing: it does not know the last run of ${counted(sessions, "session", "sessions")}`;
}

/** Counts only sessions that a restore would bring back. Others would cause a restore at each start. */
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

/** True if the home shows traces of an earlier daemon, including keepers that it started. */
function hasPast(home: Home): boolean {
  const directories = [home.sessions, home.backups, home.setAside, join(home.path, "holders")];
  return directories.some((directory) => list(directory).length > 0) || existsSync(home.tmuxFile) || existsSync(join(home.path, "reserve"));
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
