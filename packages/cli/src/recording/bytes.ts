import { HoldfastError } from "@holdfast/contract/errors";
import type { RecordingGap } from "@holdfast/contract/recording-endpoints";
import { Patience } from "@holdfast/sdk/patience";
import type { Context } from "../command.ts";

/** A stretch of a recording that is not there any more. */
export interface Deleted {
  from: number;
  to: number;
  limitBytes: number | null;
}

/**
 * Every byte once, in order; a daemon that dies or is replaced is found again, and read on from where we were. A stream that was cut
 * off looks like one that has ended: without `follow` it is whole when it has reached `until`, and what comes after that is left out.
 * Where the recording's limit has overtaken us, `onDeleted` is told before we go on with what is there; where it has a hole, `onGap`, with
 * everything before it given and nothing after it. `gaps` are those that are known before anything is read.
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
  // Holes before this offset have been told.
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
      // A run that has no watch yet, or cannot have one: it is looked at now and then.
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
