import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";
import { Patience } from "../patience.ts";

/** A stretch of a recording that is not there any more. */
export interface Deleted {
  from: number;
  to: number;
  limitBytes: number | null;
}

/**
 * Every byte once, in order; a daemon that dies or is replaced is found again, and read on from where we were. A stream that was cut
 * off looks like one that has ended: without `follow` it is whole when it has reached `until`, and what comes after that is left out.
 * Where the recording's limit has overtaken us, `onDeleted` is told before we go on with what is there.
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
  },
): AsyncGenerator<Uint8Array> {
  let { from } = options;
  const patience = new Patience();
  while (!options.signal?.aborted) {
    const before = from;
    try {
      const { ref, run, follow } = options;
      for await (const chunk of await context.client.bytes({ params: { ref }, query: { run, from, follow } }, options.signal)) {
        const wanted = follow || options.until === undefined ? chunk : chunk.subarray(0, options.until - from);
        from += wanted.length;
        patience.renew();
        if (wanted.length > 0) yield wanted;
        if (wanted.length < chunk.length) return;
      }
      if (options.signal?.aborted || (!follow && from >= (options.until ?? 0))) return;
      const { bytes, ended } = await context.client.call("getRecording", { params: { ref: options.ref }, query: { run: options.run } });
      if (from >= bytes && (ended || !follow)) return;
      patience.renew();
      // A run that has no watch yet, or cannot have one: it is looked at now and then.
      if (from === before) await patience.pause();
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "recording_cut") {
        await patience.bear(error);
        continue;
      }
      const { ref, run } = options;
      const { begins, limitBytes } = await context.client.call("getRecording", { params: { ref }, query: { run, from } });
      await options.onDeleted?.({ from, to: begins, limitBytes });
      from = begins;
    }
  }
}
