/**
 * For commands that follow. A daemon that dies or is replaced under them is found again; one that can not be found or started again,
 * time after time, must be told, not tried for ever.
 */
import { HoldfastError } from "@holdfast/contract/errors";

const MOST_MISHAPS = 5;
const FIRST_PAUSE_MS = 50;

/** Mishaps so far apart have nothing to do with each other: who follows a quiet session for days meets many. */
const CALM_MS = 60_000;

export class Patience {
  #mishaps = 0;
  #last = 0;

  /** Something came: what goes wrong next is another mishap. */
  renew(): void {
    this.#mishaps = 0;
  }

  /** Returns when it is worth trying again; throws what cannot be mended by that. */
  async bear(error: unknown): Promise<void> {
    const now = performance.now();
    if (now - this.#last > CALM_MS) this.#mishaps = 0;
    this.#last = now;
    const canMend = !(error instanceof HoldfastError) || error.code === "daemon_unreachable" || error.code === "cursor_gone";
    if (!canMend || ++this.#mishaps > MOST_MISHAPS) throw error;
    await this.pause();
  }

  /** Between two questions that brought nothing: longer from mishap to mishap. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#mishaps - 1)));
  }
}
