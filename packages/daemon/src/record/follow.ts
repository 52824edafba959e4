import { HoldfastError } from "@holdfast/contract";
import type { Recording } from "./recording.ts";
import type { RunWatch } from "./run-watch.ts";

const CHUNK = 256 * 1024;

/**
 * Every byte from `offset` to the end of what is written now, once and in order; while `watch` says that the run lives, also
 * what comes later. A reader that the limit has overtaken is cut off: it must not take what follows for what it missed. `watch` is asked anew after each chunk: it disappears when the run has ended and its recording is whole.
 */
export async function* follow(options: {
  recording: Recording;
  offset: number;
  signal: AbortSignal;
  watch(): RunWatch | undefined;
}): AsyncGenerator<Buffer> {
  let offset = options.offset;
  while (!options.signal.aborted) {
    let chunk = options.recording.read(offset, CHUNK);
    if (chunk.length === 0) {
      checkKept(options.recording, offset);
      const watch = options.watch();
      if (!watch) return;
      // Asked for before the second look, so that what comes between the two is not slept through.
      const more = watch.changed(options.signal);
      chunk = options.recording.read(offset, CHUNK);
      if (chunk.length === 0) {
        await more;
        continue;
      }
    }
    offset += chunk.length;
    yield chunk;
  }
}

/** Refuses a place whose bytes have been deleted. */
export function checkKept(recording: Recording, offset: number): void {
  const next = recording.next(offset);
  if (next === offset) return;
  throw new HoldfastError("recording_cut", `the output from ${offset} to ${next} has been deleted: the recording goes on at ${next}`, {
    hint: `read on from ${next}`,
  });
}
