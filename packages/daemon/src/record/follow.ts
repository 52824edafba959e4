import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "@holdfast/contract";
import { readGaps } from "@holdfast/platform";
import type { Recording } from "./recording.ts";
import type { RunWatch } from "./run-watch.ts";

const CHUNK = 256 * 1024;

/** Polling interval without notices; short enough to look live. */
const UNTOLD_MS = 1000;

/**
 * Yields every byte from `offset` once and in order, up to the end; while there is a watch or the run lives, also later bytes. A reader that a cut
 * has overtaken gets an error, so it cannot mistake later bytes for the missing ones. Both conditions are checked after each chunk: the watch
 * disappears when the run has ended and its recording is complete. With `nextGap`, stops before that gap. The gap is looked up after the read,
 * because a gap is recorded before the bytes that follow it.
 */
export async function* follow(options: {
  recording: Recording;
  offset: number;
  signal: AbortSignal;
  watch(): RunWatch | undefined;
  lives(): boolean;
  nextGap?(offset: number): number | undefined;
}): AsyncGenerator<Buffer> {
  let offset = options.offset;
  while (!options.signal.aborted) {
    let chunk = options.recording.read(offset, CHUNK);
    if (chunk.length === 0) {
      checkKept(options.recording, offset);
      const watch = options.watch();
      if (!watch && !options.lives()) return;
      // Wait for a change before the second read, so that bytes between the two are noticed.
      const more = watch?.hasNotices ? watch.changed(options.signal) : pause(options.signal);
      chunk = options.recording.read(offset, CHUNK);
      if (chunk.length === 0) {
        await more;
        continue;
      }
    }
    const gap = options.nextGap?.(offset);
    if (gap === offset) return;
    if (gap !== undefined) chunk = chunk.subarray(0, gap - offset);
    offset += chunk.length;
    yield chunk;
  }
}

/** Returns the offset of the first gap at or after `from`. */
export function firstGap(directory: string, from: number): number | undefined {
  const offsets = readGaps(directory).flatMap(({ offset }) => (offset >= from ? [offset] : []));
  return offsets.length > 0 ? Math.min(...offsets) : undefined;
}

function pause(signal: AbortSignal): Promise<void> {
  return delay(UNTOLD_MS, undefined, { signal }).catch(() => {});
}

/** Throws if the bytes at this offset have been deleted. */
export function checkKept(recording: Recording, offset: number): void {
  const next = recording.next(offset);
  if (next === offset) return;
  throw new HoldfastError("recording_cut", `the output from ${offset} to ${next} has been deleted; the recording continues at ${next}`, {
    hint: `continue reading at ${next}`,
  });
}
