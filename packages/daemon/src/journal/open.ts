/**
 * Opens the database in the current schema, whatever is on disk. Damage is never ignored or hidden. Order: an unfinished restore, the condition of
 * the database, a backup before its schema changes.
 */
import { existsSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { describe, type Home, log, readJsonFile } from "@holdfast/platform";
import type { Backups } from "./backups.ts";
import { conditionOf, type Looks } from "./condition.ts";
import { openDatabase } from "./database.ts";
import { settleHomeId } from "./home-id.ts";
import type { Projection } from "./journal.ts";
import { MIGRATIONS } from "./migrations.ts";
import { closeOrder, openOrder, orderRestore, restore } from "./restore.ts";
import { mark } from "./schema.ts";

export async function openJournalDatabase(
  home: Home,
  how: {
    backups: Backups;
    projections: readonly Projection[];
    migrations?: readonly string[];
    canRebuild: Looks["canRebuild"];
  },
): Promise<DatabaseSync> {
  const { migrations = MIGRATIONS, canRebuild } = how;
  const order = openOrder(home);
  if (order && order.why !== "doubted") restore(home, order, how);
  const doubted = order !== undefined || machineWentDown(home);
  const condition = conditionOf(home, { doubted, migrations, canRebuild });
  if (condition.state === "damaged") {
    const { what, isStrange } = condition;
    restore(home, orderRestore(home, { why: "damaged", what, backup: null, ...(isStrange ? { isStrange } : {}) }), how);
  }
  if (condition.state !== "damaged" && order?.why === "doubted") {
    log(`the database was checked (${order.what}), and every page is good`);
    closeOrder(home);
  }
  if (condition.state === "good" && condition.doubt !== undefined)
    log(`the database was checked (${condition.doubt}), and all of it is good`);
  if (condition.state === "good" && condition.version > 0 && condition.version < migrations.length) {
    const { name } = await how.backups.create("migration");
    log(`the database migrates from schema ${condition.version} to ${migrations.length}; backup ${name} has the old one`);
  }
  const db = openDatabase(home.database, { migrations });
  mark(db, migrations);
  settleHomeId(home, db);
  return db;
}

/** True if the last daemon did not shut down cleanly and the machine has been restarted since: only then can a sound disk lose its last writes. */
function machineWentDown(home: Home): boolean {
  try {
    if (!existsSync(home.daemonFile)) return false;
    const { start } = (readJsonFile(home.daemonFile) ?? {}) as { start?: string };
    return !start?.startsWith(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8));
  } catch (error) {
    log(`cannot determine whether the machine went down: ${describe(error)}`);
    return true;
  }
}
