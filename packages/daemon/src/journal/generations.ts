import type { Backup } from "@holdfast/contract";

/** Keeps all of the last half hour, then fewer with age. */
const NEWEST = 3;
const HOURS = 6;
const DAYS = 7;

/** Backups kept from before a migration or a restore: they are the way back. */
const TURNING_POINTS = 2;

/** Backups kept that a person requested. */
const ASKED = 5;

/** Size limit of all backups together, except the two newest. */
const MOST_BYTES = 4 * 2 ** 30;
const ALWAYS = 2;

/** Returns the backups to delete. `backups` is newest first. */
export function surplus(backups: readonly Backup[]): Backup[] {
  const wanted = new Set([
    ...backups.slice(0, NEWEST),
    ...backups.filter(({ why }) => why === "migration" || why === "restore").slice(0, TURNING_POINTS),
    ...backups.filter(({ why }) => why === "asked").slice(0, ASKED),
    ...firstOfEach(backups, "2026-11-15T07".length).slice(0, HOURS),
    ...firstOfEach(backups, "2026-11-15".length).slice(0, DAYS),
  ]);
  let bytes = 0;
  const kept = backups.filter((backup, index) => {
    if (!wanted.has(backup)) return false;
    bytes += backup.bytes;
    return index < ALWAYS || bytes <= MOST_BYTES;
  });
  return backups.filter((backup) => !kept.includes(backup));
}

/** Returns the newest backup of each hour or day, by a prefix of its time. */
function firstOfEach(backups: readonly Backup[], length: number): Backup[] {
  const seen = new Map<string, Backup>();
  for (const backup of backups) {
    const period = backup.at.slice(0, length);
    if (!seen.has(period)) seen.set(period, backup);
  }
  return [...seen.values()];
}
