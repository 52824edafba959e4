/**
 * Marks a stopped run in its own directory: a journal that lost its last events must not take it for a run that ended on its own, and restart it.
 * Only the file's existence counts; its content is for people.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "@holdfast/platform";

const NAME = "stop";

export function writeStopFile(directory: string, by: { actor: string; graceMs: number }): void {
  writeFileAtomic(join(directory, NAME), `${JSON.stringify({ at: new Date().toISOString(), ...by })}\n`);
}

export function hasStopFile(directory: string): boolean {
  return existsSync(join(directory, NAME));
}

/** For a run that is adopted again. */
export function removeStopFile(directory: string): void {
  rmSync(join(directory, NAME), { force: true });
}
