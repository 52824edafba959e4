/**
 * Identifies the home of a database. The home's id is in a file and in its database, so a home can be moved or copied as a whole, and a database of
 * another home is recognised. A database of another program is recognised by SQLite's application id, or by tables without a schema version.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { unwritable } from "@holdfast/contract";
import { type Home, writeFileAtomic } from "@holdfast/platform";

/** "Hold" */
const APPLICATION = 0x486f6c64;
const KEY = "home";
const FILE = "home-id";
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns why the database is not this home's, or undefined if nothing contradicts it. */
export function strangeness(home: Home, db: DatabaseSync): string | undefined {
  if (!hasTables(db, ["meta", "events"])) {
    const application = numberOf(db, "application_id");
    const isStrange = application === 0 ? numberOf(db, "user_version") === 0 && tableNames(db).length > 0 : application !== APPLICATION;
    return isStrange ? "it belongs to another program" : undefined;
  }
  const [here, there] = [idOfHome(home), idIn(db)];
  return here !== undefined && there !== undefined && here !== there ? "it belongs to another home" : undefined;
}

/** Gives both the same id. A missing or damaged file is written again from the database. */
export function settleHomeId(home: Home, db: DatabaseSync): void {
  try {
    const id = idIn(db) ?? idOfHome(home) ?? randomUUID();
    if (idOfHome(home) !== id) writeFileAtomic(join(home.path, FILE), `${id}\n`);
    if (idIn(db) !== id) db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(KEY, id);
    if (numberOf(db, "application_id") !== APPLICATION) db.exec(`PRAGMA application_id = ${APPLICATION}`);
  } catch (error) {
    // Without disk space, the next start does it.
    if (!unwritable(error)) throw error;
  }
}

function idOfHome(home: Home): string | undefined {
  try {
    const id = readFileSync(join(home.path, FILE), "utf8").trim();
    return ID.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

function idIn(db: DatabaseSync): string | undefined {
  const id = hasTables(db, ["meta"]) ? db.prepare("SELECT value FROM meta WHERE key = ?").get(KEY)?.value : undefined;
  return typeof id === "string" && ID.test(id) ? id : undefined;
}

function hasTables(db: DatabaseSync, wanted: readonly string[]): boolean {
  const names = tableNames(db);
  return wanted.every((name) => names.includes(name));
}

function tableNames(db: DatabaseSync): string[] {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
  return tables.map(({ name }) => String(name));
}

function numberOf(db: DatabaseSync, pragma: "application_id" | "user_version"): number {
  return Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}
