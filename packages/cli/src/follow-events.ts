import { formatCursor } from "@holdfast/contract/cursor";
import { HoldfastError } from "@holdfast/contract/errors";
import type { AnyEvent } from "@holdfast/contract/events";
import { Patience } from "@holdfast/sdk/patience";
import type { Context } from "./command.ts";

export interface Following {
  query: { session?: string | undefined; type?: string[] | undefined };
  /** The place to begin after; without it, the beginning. */
  after: string | undefined;
  /** One at a time. One for which it fails because the daemon is gone comes again. */
  onEvent(event: AnyEvent): Promise<void>;
}

/** Until Ctrl+C. A daemon that dies or is replaced is found again, at the place we had reached. */
export async function followEvents(context: Context, { query, onEvent, ...from }: Following): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  let { after } = from;
  const patience = new Patience();
  while (!stop.signal.aborted) {
    try {
      for await (const event of context.client.events({ query: { ...query, after } }, stop.signal)) {
        await onEvent(event);
        after = formatCursor(event);
        patience.renew();
      }
    } catch (error) {
      if (stop.signal.aborted) break;
      // In another epoch our place means nothing.
      if (error instanceof HoldfastError && error.code === "cursor_gone") throw error;
      await patience.bear(error);
    }
  }
}
