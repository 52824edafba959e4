/** One question to an agent: events as they arrive, and a result. run-query.ts implements it. */
import type { Entry } from "@holdfast/contract/transcript";
import type { Sums } from "@holdfast/contract/usage";
import type { WaitingApproval } from "./approvals.ts";
import type { HoldfastClient } from "./client.ts";
import { AbortError, abortErrorOf } from "./errors.ts";
import { runQuery } from "./run-query.ts";
import type { SessionOptions, Surroundings } from "./sessions.ts";

/** The answer to a permission request. `wait` leaves it in the inbox for somebody else. */
export type Leave = "allow" | "deny" | "wait" | { deny: string } | { answer: string };

export interface QueryOptions extends Omit<SessionOptions, "prompt" | "chat" | "restart" | "command" | "host"> {
  /** The prompt. */
  prompt: string;
  /** Go on with this conversation, in place of a new one: by name or id. It is left as it is afterwards, also where the query is cancelled. */
  session?: string;
  /** Keep the session idle afterwards, to continue it: `result.session` is its id. */
  keep?: boolean;
  /** Answers permission requests; without it they wait in the inbox. */
  onApproval?: (approval: WaitingApproval) => Leave | Promise<Leave>;
  /** Is told everything that the loop over the query gets. */
  onProgress?: (event: QueryEvent) => void;
  /** A tool that fails, or leave that is denied, ends the query with `ToolFailed` or `PermissionRefused`; else the agent makes the best of it. */
  strict?: boolean;
  /** After so long it ends with `Timeout`. */
  timeoutMs?: number;
  /** Cancels it: it ends with `AbortError`, once nothing of it is left. */
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
  /** How the turn ended: by itself, at a limit, refused by the agent, or cancelled. */
  stopReason: "completed" | "max_tokens" | "max_requests" | "refused" | "cancelled";
  /** Tokens of this turn; null where the agent tells nothing. */
  usage: Sums | null;
  /** In US dollars: as reported by the agent, else by the prices of config.toml and of Holdfast; null if unknown. */
  cost: number | null;
  /** Files that changed: as tools told it and, in a worktree of its own, as git says. Relative to the directory it worked in. */
  files: string[];
  /** The session's id; it is gone unless it was kept. */
  session: string;
  durationMs: number;
}

/** A question that was asked: loop over it for what happens, wait for `result` for what came of it, or both. */
export class Query implements AsyncIterable<QueryEvent> {
  readonly #over = new AbortController();
  readonly #done: Promise<QueryResult>;
  readonly #events: QueryEvent[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;
  #isWatched = false;

  /** `query()` makes one, and it begins at once. */
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
    // Of a failure that nobody looks at, the process hears as of any other promise.
    this.#done.catch((error: unknown) => (this.#isWatched ? undefined : Promise.reject(error)));
  }

  /** The result. It rejects with the same error as the loop. */
  get result(): Promise<QueryResult> {
    this.#isWatched = true;
    return this.#done;
  }

  /** Cancels it. The loop and `result` fail with `AbortError`, once nothing of it is left. */
  abort(reason?: unknown): void {
    this.#over.abort(new AbortError("aborted", "the query was cancelled", { cause: reason }));
  }

  /** Events as they come, each once. Breaking off cancels the query, and waits until nothing of it is left. */
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
