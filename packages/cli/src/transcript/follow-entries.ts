import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import { hasEnded } from "@holdfast/contract/session/status";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { Patience } from "@holdfast/sdk/patience";

export interface FollowedEntries {
  /** The session's id. */
  session: string;
  /** The cursor to begin after. */
  after: string;
  signal: AbortSignal;
  onEntry(placed: PlacedEntry): void | Promise<void>;
}

/** Follows until the session ends or the signal aborts. Continues at its position when the daemon dies or is replaced. */
export async function followEntries(client: HoldfastClient, { session, signal, onEntry, ...from }: FollowedEntries): Promise<void> {
  const patience = new Patience();
  let { after } = from;
  while (!signal.aborted) {
    try {
      for await (const placed of client.entries({ params: { ref: session }, query: { after } }, signal)) {
        await onEntry(placed);
        after = placed.cursor;
        patience.renew();
      }
      // A stream also ends with its daemon.
      const { status } = await client.call("getSession", { params: { ref: session } }, signal);
      const { entries } = await client.call("readTranscript", { params: { ref: session }, query: { after, limit: "1" } }, signal);
      if (hasEnded(status) && entries.length === 0) return;
      await patience.pause();
    } catch (error) {
      if (signal.aborted) return;
      await patience.bear(error);
    }
  }
}
