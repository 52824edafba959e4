/**
 * Waits that outlive the daemon: a look, then the events after it, and when the stream breaks off, for the daemon was killed or replaced,
 * another look. Nothing that happens in between is missed.
 */
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";

const PASSING = ["daemon_unreachable", "cursor_gone", "journal_damaged"];

/** A daemon that is being replaced is there again in less. */
const AGAIN_MS = 200;

export interface Look<T> {
  /** Where the journal was. */
  cursor: string;
  /** Undefined: not yet. */
  found: T | undefined;
}

/** What `look` finds, or undefined when `over` aborts. */
export async function eventually<T>(
  client: HoldfastClient,
  options: { look(): Promise<Look<T>>; over: AbortSignal; session?: string | undefined; types?: readonly string[] | undefined },
): Promise<T | undefined> {
  const { over, session, types } = options;
  for (;;) {
    try {
      const { cursor, found } = await options.look();
      if (found !== undefined) return found;
      if (over.aborted) return undefined;
      const query = { after: cursor, ...(session === undefined ? {} : { session }), ...(types ? { type: [...types] } : {}) };
      for await (const _ of client.events({ query }, over)) break;
    } catch (error) {
      if (over.aborted) return undefined;
      if (!isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    if (over.aborted) return undefined;
  }
}

/** The daemon went, and comes back; what it answered stands. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof HoldfastError) || PASSING.includes(error.code);
}
