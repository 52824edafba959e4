import { HoldfastError } from "@holdfast/contract/errors";
import { Patience } from "@holdfast/sdk/patience";

/** Repeats an idempotent request, identified by an id in it, while the daemon is unreachable. */
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
