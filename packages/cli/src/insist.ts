import { HoldfastError } from "@holdfast/contract/errors";
import { Patience } from "@holdfast/sdk/patience";

/** A request that is the same one however often it is made, by an id in it: made again while the daemon that was asked is gone. */
export async function insist<R>(ask: () => Promise<R>): Promise<R> {
  const patience = new Patience();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "daemon_unreachable") throw error;
      await patience.bear(error);
    }
  }
}
