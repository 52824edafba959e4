/** A query: one question to an agent, with events as they arrive and a result. run-query.ts implements it. */
import type { HoldfastClient } from "./client.ts";
import { AbortError, abortErrorOf } from "./errors.ts";
import type { QueryEvent, QueryOptions, QueryResult } from "./query-types.ts";
import { runQuery } from "./run-query.ts";
import type { Surroundings } from "./sessions.ts";

/** A running query. Loop over it for events, await `result` for the result, or both. */
export class Query implements AsyncIterable<QueryEvent> {
  readonly #over = new AbortController();
  readonly #done: Promise<QueryResult>;
  readonly #events: QueryEvent[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;
  #isWatched = false;

  /** Starts the query at once. Programs call `query()` instead. */
  constructor(client: HoldfastClient, options: QueryOptions, how: { around?: Surroundings; onOver?: () => void } = {}) {
    const { signal, onProgress } = options;
    const { around = {}, onOver } = how;
    const tell = (event: QueryEvent) => {
      this.#events.push(event);
      this.#wake?.();
      onProgress?.(event);
    };
    const onAbort = () => this.#over.abort(signal && abortErrorOf(signal));
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    this.#done = runQuery(client, { ...options, signal: this.#over.signal }, { around, tell }).finally(() => {
      signal?.removeEventListener("abort", onAbort);
      onOver?.();
      this.#isOver = true;
      this.#wake?.();
    });
    // If nobody reads the query, its failure becomes an unhandled rejection.
    this.#done.catch((error: unknown) => (this.#isWatched ? undefined : Promise.reject(error)));
  }

  /** The result. It rejects with the same error as the loop. */
  get result(): Promise<QueryResult> {
    this.#isWatched = true;
    return this.#done;
  }

  /** Cancels the query. The loop and `result` fail with `AbortError` after the session is cleaned up. */
  abort(reason?: unknown): void {
    this.#over.abort(new AbortError("aborted", "the query was cancelled", { cause: reason }));
  }

  /** Yields each event once. Leaving the loop early cancels the query and waits until the session is cleaned up. */
  async *[Symbol.asyncIterator](): AsyncGenerator<QueryEvent> {
    this.#isWatched = true;
    try {
      for (;;) {
        for (let event = this.#events.shift(); event; event = this.#events.shift()) yield event;
        if (this.#isOver) return void (await this.#done);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      if (!this.#isOver) {
        this.abort("the reader closed the query");
        await this.#done.catch(() => {});
      }
    }
  }
}
