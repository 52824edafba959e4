/** Checks whether the journal could be restored, and lists files left from an earlier restore. */
import { readdirSync } from "node:fs";
import type { Home } from "@holdfast/platform";
import type { Backups } from "../journal/backups.ts";
import type { Check } from "./check.ts";

export function backupState(backups: Backups): Check {
  const [newest] = backups.list();
  if (backups.failure !== undefined) {
    return { id: "backups", level: "warning", what: `the last backup failed: ${backups.failure}`, remedy: "holdfast backup create" };
  }
  const what = newest
    ? `the newest backup of the journal is from ${newest.at}`
    : "no backup yet: the daemon takes the first one 30 seconds after it starts";
  return { id: "backups", level: newest ? "ok" : "note", what, remedy: newest ? null : "holdfast backup create" };
}

/** Holdfast never deletes these files. */
export function setAside(home: Home): Check {
  const kept = list(home.setAside);
  if (kept.length === 0) return { id: "set-aside", level: "ok", what: "no damaged files are set aside", remedy: null };
  return {
    id: "set-aside",
    level: "note",
    what: `damaged databases or workspaces are kept in ${home.setAside}: ${kept.length}, the newest is ${kept.at(-1)}`,
    remedy: "remove them when you no longer need them",
  };
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
