import { HoldfastError } from "@holdfast/contract/errors";
import type { RecordingGap } from "@holdfast/contract/recording/endpoints";
import { Patience } from "@holdfast/sdk/patience";
import type { Context } from "../command.ts";

/** A deleted stretch of a recording. */
export interface Deleted {
  from: number;
  to: number;
  limitBytes: number | null;
}

/**
 * Yields every byte once, in order, and continues at its position when the daemon dies or is replaced. A broken stream looks like an ended one:
 * without `follow` it is complete once it reaches `until`, and later bytes are dropped. If the recording's limit deleted the next bytes,
 * `onDeleted` is called before reading continues. At a gap, `onGap` is called after all bytes before it and before any after it. `gaps` are
 * those known at the start.
 */
export async function* bytesOf(
  context: Context,
  options: {
    ref: string;
    run: number | undefined;
    from: number;
    until?: number;
    follow: boolean;
    signal?: AbortSignal;
    onDeleted?(deleted: Deleted): void | Promise<void>;
    gaps?: readonly RecordingGap[];
    onGap?(gap: RecordingGap): void | Promise<void>;
  },
): AsyncGenerator<Uint8Array> {
  let { from, gaps = [] } = options;
  // Gaps before this offset have been reported.
  let untilGap = from;
  const tellGaps = async () => {
    for (const gap of gaps) {
      if (gap.offset < untilGap || gap.offset > from) continue;
      untilGap = gap.offset + 1;
      await options.onGap?.(gap);
    }
  };
  const nextGap = () => gaps.find(({ offset }) => offset >= untilGap)?.offset ?? Number.POSITIVE_INFINITY;
  const patience = new Patience();
  while (!options.signal?.aborted) {
    const before = from;
    try {
      const { ref, run, follow } = options;
      await tellGaps();
      const query = { run, from, follow, ...(options.onGap ? { untilGap } : {}) };
      for await (const chunk of await context.client.bytes({ params: { ref }, query }, options.signal)) {
        patience.renew();
        const until = follow ? undefined : options.until;
        const isLast = until !== undefined && from + chunk.length > until;
        for (let rest = isLast ? chunk.subarray(0, until - from) : chunk; rest.length > 0; ) {
          await tellGaps();
          const piece = rest.subarray(0, nextGap() - from);
          rest = rest.subarray(piece.length);
          from += piece.length;
          yield piece;
        }
        if (isLast) return await tellGaps();
      }
      if (options.signal?.aborted) return;
      if (!follow && from >= (options.until ?? 0)) return await tellGaps();
      const recording = await context.client.call("getRecording", { params: { ref: options.ref }, query: { run: options.run } });
      gaps = recording.gaps;
      if (from >= recording.bytes && (recording.ended || !follow)) return await tellGaps();
      patience.renew();
      // The run has no watcher yet, or cannot have one, so poll.
      if (from === before) await patience.pause();
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!(error instanceof HoldfastError) || error.code !== "recording_cut") {
        await patience.bear(error);
        continue;
      }
      const { ref, run } = options;
      const { begins, limitBytes, ...recording } = await context.client.call("getRecording", { params: { ref }, query: { run, from } });
      await options.onDeleted?.({ from, to: begins, limitBytes });
      from = begins;
      gaps = recording.gaps;
    }
  }
}
