import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "@holdfast/contract";
import { readGaps } from "@holdfast/platform";
import type { Recording } from "./recording.ts";
import type { RunWatch } from "./run-watch.ts";

const CHUNK = 256 * 1024;

/** How often a reader looks for itself where nobody tells it; a person still takes it for following. */
const UNTOLD_MS = 1000;

/**
 * Every byte from `offset` to the end of what is written now, once and in order; while there is a watch, or the run lives all the same, also
 * what comes later. A reader that the limit has overtaken is cut off: it must not take what follows for what it missed. Both are asked anew
 * after each chunk: the watch disappears when the run has ended and its recording is whole. With `nextGap` it ends before that hole: asked
 * after the bytes were read, for a hole is written down before what comes after it.
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
      // Asked for before the second look, so that what comes between the two is not slept through.
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

/** Where the first hole at this offset or a later one lies. */
export function firstGap(directory: string, from: number): number | undefined {
  const offsets = readGaps(directory).flatMap(({ offset }) => (offset >= from ? [offset] : []));
  return offsets.length > 0 ? Math.min(...offsets) : undefined;
}

function pause(signal: AbortSignal): Promise<void> {
  return delay(UNTOLD_MS, undefined, { signal }).catch(() => {});
}

/** Refuses a place whose bytes have been deleted. */
export function checkKept(recording: Recording, offset: number): void {
  const next = recording.next(offset);
  if (next === offset) return;
  throw new HoldfastError("recording_cut", `the output from ${offset} to ${next} has been deleted: the recording goes on at ${next}`, {
    hint: `read on from ${next}`,
  });
}
