/**
 * Waits that survive a daemon restart: check the state, then follow the events after it. If the stream breaks because the daemon was killed or
 * replaced, check again. No change is missed.
 */
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";

const PASSING = ["daemon_unreachable", "cursor_gone", "journal_damaged"];

/** A daemon that is being replaced is back within this time. */
const AGAIN_MS = 200;

export interface Look<T> {
  /** Position in the journal at the time of the check. */
  cursor: string;
  /** Undefined: not yet. */
  found: T | undefined;
}

/** Returns what `look` finds, or undefined when `over` aborts. */
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

/** True if the daemon is gone and will come back; errors that the daemon replied with are final. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof HoldfastError) || PASSING.includes(error.code);
}
