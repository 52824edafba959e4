/**
 * That somebody stopped a run, in its own directory: a journal that loses its last events must not take a stopped run for one that
 * ended by itself, and start the next. That the file is there says it; what is in it is for people.
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

/** For a run that is taken up again. */
export function removeStopFile(directory: string): void {
  rmSync(join(directory, NAME), { force: true });
}
