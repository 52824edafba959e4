import type { Context } from "../command.ts";
import { Patience } from "../patience.ts";

/**
 * Every byte once, in order; a daemon that dies or is replaced is found again, and read on from where we were. A stream that was cut
 * off looks like one that has ended: without `follow` it is whole when it has reached `until`, and what comes after that is left out.
 */
export async function* bytesOf(
  context: Context,
  options: { ref: string; run: number | undefined; from: number; until?: number; follow: boolean; signal?: AbortSignal },
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
      await patience.bear(error);
    }
  }
}
