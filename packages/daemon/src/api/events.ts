import { type AnyEvent, HoldfastError, parseCursor } from "@holdfast/contract";
import type { EventFilter, Journal } from "../journal/journal.ts";

const BATCH = 500;

/** Keep-alive interval, by which a proxy or a client notices a dead stream. */
const ALIVE_MS = 15_000;

/** The journal position of the cursor `after`; without it, before the first event. */
export function startOf(journal: Journal, after: string | undefined): number {
  if (after === undefined) return 0;
  const cursor = parseCursor(after);
  if (!cursor)
    throw new HoldfastError("usage", `${JSON.stringify(after)} is not a cursor`, { hint: "a cursor is SEQ or EPOCH:SEQ, for example 42" });
  return journal.resolveCursor(cursor).seq;
}

/** All events after `seq`, then new ones; undefined is a keep-alive. Reads only as fast as its consumer. */
export async function* eventsFrom(
  journal: Journal,
  options: { seq: number; filter: EventFilter; signal: AbortSignal },
): AsyncGenerator<AnyEvent | undefined> {
  let { seq } = options;
  while (!options.signal.aborted) {
    const end = journal.cursor.seq;
    const batch = journal.readAfter(seq, BATCH, options.filter);
    yield* batch;
    // The filter may have skipped everything up to `end`, which need not be read again.
    seq = batch.length === BATCH ? (batch.at(-1)?.seq ?? seq) : Math.max(end, batch.at(-1)?.seq ?? 0);
    if (batch.length === BATCH || journal.cursor.seq > seq) continue;
    const quiet = new AbortController();
    const timer = setTimeout(() => quiet.abort(), ALIVE_MS);
    await journal.changed(seq, AbortSignal.any([options.signal, quiet.signal]));
    clearTimeout(timer);
    if (quiet.signal.aborted) yield undefined;
  }
}
