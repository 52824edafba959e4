import { HoldfastError } from "@holdfast/contract/errors";
import type { AnyEvent } from "@holdfast/contract/events";
import { formatCursor } from "@holdfast/contract/journal/cursor";
import { Patience } from "@holdfast/sdk/patience";
import type { Context } from "../command.ts";

export interface Following {
  query: { session?: string | undefined; type?: string[] | undefined };
  /** The cursor to begin after; undefined for the beginning. */
  after: string | undefined;
  /** Called for one event at a time. An event is repeated if the call fails because the daemon is gone. */
  onEvent(event: AnyEvent): Promise<void>;
}

/** Follows until Ctrl+C. Continues at its position when the daemon dies or is replaced. */
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
      // A cursor has no meaning in another epoch.
      if (error instanceof HoldfastError && error.code === "cursor_gone") throw error;
      await patience.bear(error);
    }
  }
}
