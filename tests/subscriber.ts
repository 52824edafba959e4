/** Follows the journal over the SDK as a program does: it reconnects with its cursor each time a daemon dies. */
import { setTimeout as delay } from "node:timers/promises";
import { type AnyEvent, formatCursor, HoldfastError } from "@holdfast/contract";
import { eventually, type TestHome } from "./home.ts";

export class Subscriber implements AsyncDisposable {
  readonly events: AnyEvent[] = [];
  /** The number of reconnects. */
  returns = -1;
  readonly #home: TestHome;
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;
  #failure: unknown;

  constructor(home: TestHome, after?: string) {
    this.#home = home;
    this.#following = this.#follow(after).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Waits for a matching event. */
  async until(fits: (event: AnyEvent) => boolean, patienceMs?: number): Promise<AnyEvent> {
    return eventually(() => {
      if (this.#failure) throw this.#failure;
      return this.events.find(fits);
    }, patienceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
    if (this.#failure) throw this.#failure;
  }

  async #follow(after: string | undefined): Promise<void> {
    let cursor = after;
    while (!this.#stop.signal.aborted) {
      using client = this.#home.client();
      this.returns++;
      try {
        for await (const event of client.events({ query: { after: cursor } }, this.#stop.signal)) {
          this.events.push(event);
          cursor = formatCursor(event);
        }
      } catch (error) {
        if (error instanceof HoldfastError && error.code !== "daemon_unreachable") throw error;
      }
      // No daemon at the moment. A client that does not start one tries again.
      await delay(10, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }
}

/** Consecutive journal positions, each once. */
export function expectGapless(events: readonly AnyEvent[], from = 1): void {
  const places = events.map(({ seq }) => seq);
  const wrong = places.findIndex((seq, i) => seq !== from + i);
  if (wrong >= 0) throw new Error(`after ${places[wrong - 1]} comes ${places[wrong]}; all: ${places.join(" ")}`);
  if (new Set(events.map(({ id }) => id)).size !== events.length) throw new Error("two events have the same id");
}
