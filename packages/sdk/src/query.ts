/** A query: one question to an agent, with events as they arrive and a result. run-query.ts implements it. */
import type { Entry } from "@holdfast/contract/conversation/transcript";
import type { Sums } from "@holdfast/contract/usage/usage";
import type { WaitingApproval } from "./approvals.ts";
import type { HoldfastClient } from "./client.ts";
import { AbortError, abortErrorOf } from "./errors.ts";
import { runQuery } from "./run-query.ts";
import type { SessionOptions, Surroundings } from "./sessions.ts";

/** The answer to a permission request. `wait` leaves it open in the inbox for somebody else. */
export type ApprovalAnswer = "allow" | "deny" | "wait" | { deny: string } | { answer: string };

export interface QueryOptions extends Omit<SessionOptions, "prompt" | "chat" | "restart" | "command" | "host"> {
  /** The prompt. */
  prompt: string;
  /** Continue this conversation, by name or id, instead of starting a new one. The session is kept afterwards, even if the query is cancelled. */
  session?: string;
  /** Keep the new session idle afterwards, to continue it later: `result.session` is its id. */
  keep?: boolean;
  /** Answers permission requests; without it they wait in the inbox. */
  onApproval?: (approval: WaitingApproval) => ApprovalAnswer | Promise<ApprovalAnswer>;
  /** Called with every event that the loop over the query yields. */
  onProgress?: (event: QueryEvent) => void;
  /** End the query with `ToolFailed` or `PermissionRefused` if a tool fails or a permission request is denied. Otherwise the agent continues. */
  strict?: boolean;
  /** Time limit; the query then ends with `Timeout`. */
  timeoutMs?: number;
  /** Cancels the query. It ends with `AbortError` after its session is cleaned up. */
  signal?: AbortSignal;
}

/** Events of a query: first `started`, then entries of the transcript, last `result`. */
export type QueryEvent =
  | { type: "started"; session: string; name: string }
  | Exclude<Entry, { type: "user" }>
  | { type: "result"; result: QueryResult };

export interface QueryResult {
  /** The agent's answer. */
  text: string;
  /** How the turn ended: completed, at a limit, refused by the agent, or cancelled. */
  stopReason: "completed" | "max_tokens" | "max_requests" | "refused" | "cancelled";
  /** Tokens of this turn; null if the agent does not report them. */
  usage: Sums | null;
  /** Cost in US dollars: as reported by the agent, else from the prices of config.toml and of Holdfast; null if unknown. */
  cost: number | null;
  /** Changed files, as reported by the agent's tools and, in a new worktree, by git. Relative to the session's directory. */
  files: string[];
  /** The session's id. The session is removed unless it was kept. */
  session: string;
  durationMs: number;
}

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
