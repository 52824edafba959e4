/**
 * Retry limit for streams. A stream reconnects when the daemon dies or is replaced, but repeated failures are reported instead of retried forever.
 */
import { HoldfastError } from "@holdfast/contract/errors";

const MOST_MISHAPS = 5;
const FIRST_PAUSE_MS = 50;

/** Failures this far apart are unrelated: a client that follows a quiet session for days meets many. */
const CALM_MS = 60_000;

export class Patience {
  #mishaps = 0;
  #last = 0;

  /** Data arrived, so the next failure is a new one. */
  renew(): void {
    this.#mishaps = 0;
  }

  /** Returns when a retry makes sense; throws errors that a retry cannot fix. */
  async bear(error: unknown): Promise<void> {
    const now = performance.now();
    if (now - this.#last > CALM_MS) this.#mishaps = 0;
    this.#last = now;
    const canMend = !(error instanceof HoldfastError) || error.code === "daemon_unreachable" || error.code === "cursor_gone";
    if (!canMend || ++this.#mishaps > MOST_MISHAPS) throw error;
    await this.pause();
  }

  /** Pause before a retry; it doubles with each failure. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#mishaps - 1)));
  }
}
