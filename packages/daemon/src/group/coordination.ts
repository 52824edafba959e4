/**
 * Replaces a coordinator that has ended by the longest-standing live member, or by nobody if there is none. Follows the journal, and checks every
 * group at the start, in case a daemon died in between. A session whose next run is due has not ended.
 */
import { describe, log } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Journal } from "../journal/journal.ts";
import type { GroupQueries } from "../projection/group-queries.ts";
import { handOver } from "./groups.ts";

/** Events after which a member may have become alive or ended. */
const FOLLOWED = [
  "session.ended",
  "session.removed",
  "session.restart_abandoned",
  "session.run_created",
  "session.adopted",
  "session.rebuilt",
] as const;
const BATCH = 500;

export class Coordination implements Disposable {
  readonly #journal: Journal;
  readonly #queries: GroupQueries;
  readonly #ending = new AbortController();

  constructor(options: { journal: Journal; queries: GroupQueries }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
  }

  begin(): void {
    const { seq } = this.#journal.cursor;
    this.look();
    this.#follow(seq).catch((error: unknown) => log(`groups no longer get a new coordinator: ${describe(error)}`));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  /** On a full disk the next event causes another attempt. */
  look(): boolean {
    try {
      const drafts = this.#queries.withoutCoordinator().map((path) => {
        const from = this.#queries.lastCoordinator(path);
        const next = this.#queries.members(path).find(({ ended }) => !ended);
        return handOver(path, { from, to: next?.session ?? null, why: from === null ? "first" : "ended", actor: DAEMON });
      });
      if (drafts.length > 0) this.#journal.append(...drafts);
      return true;
    } catch (error) {
      log(`a group got no new coordinator: ${describe(error)}`);
      return false;
    }
  }

  async #follow(from: number): Promise<void> {
    const { signal } = this.#ending;
    let isDone = true;
    for (let seq = from; ; ) {
      await this.#journal.changed(seq, signal);
      if (signal.aborted) return;
      const end = this.#journal.cursor.seq;
      const events = this.#journal.readAfter(seq, BATCH, { types: FOLLOWED });
      if (events.length > 0 || !isDone) isDone = this.look();
      seq = events.length === BATCH ? (events.at(-1)?.seq ?? end) : end;
    }
  }
}
