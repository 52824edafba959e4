/**
 * Keeps a recording within its limit by deleting its oldest segments, an eighth of the limit at a time: a flood causes a few cuts, not one per
 * segment. Deletes the oldest first, so a crash leaves a complete end of the recording. The files are then the truth, and the journal is updated
 * later.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { SEGMENT_BYTES, writeFileAtomic } from "@holdfast/platform";
import { CUT, offsetByName, type Recording, type Segment } from "./recording.ts";

/** Completes the cut of a daemon that died during it. */
export function finishCut(recording: Recording): void {
  for (const path of recording.leftovers()) rmSync(path, { force: true });
}

/** Returns the new start offset, or undefined if nothing was deleted. `beforeCut` gets the files to be deleted. */
export function keepToLimit(
  recording: Recording,
  options: { limit: number; beforeCut?: ((paths: string[]) => void) | undefined },
): number | undefined {
  finishCut(recording);
  const segments = recording.segments();
  let kept = segments.reduce((sum, { size }) => sum + size, 0);
  if (kept <= options.limit) return undefined;
  const aim = options.limit - Math.max(SEGMENT_BYTES, Math.floor(options.limit / 8));
  const old: Segment[] = [];
  // The last segment is still growing and stays.
  for (const segment of segments.slice(0, -1)) {
    if (kept <= aim) break;
    old.push(segment);
    kept -= segment.size;
  }
  const first = segments[old.length];
  if (!first || old.length === 0) return undefined;
  options.beforeCut?.(old.map(({ path }) => path));
  if (offsetByName(first.name) !== first.offset) writeFileAtomic(join(recording.directory, CUT), `${first.offset} ${first.name}\n`);
  for (const { path } of old) rmSync(path, { force: true });
  return first.offset;
}
