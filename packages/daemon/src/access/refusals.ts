import type { Principal } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";

/** A repeated refusal within this time is only counted, because a program that retries forever must not fill the journal. */
const PAUSE_MS = 60_000;

/** Far more than people and programs cause; a forgotten entry only starts counting again. */
const MOST_KINDS = 1000;

/** Records refused requests of known principals as events. Requests of unknown principals are not recorded. */
export class Refusals {
  readonly #journal: Journal;
  readonly #clock: () => number;
  readonly #seen = new Map<string, { at: number; more: number }>();

  constructor(options: { journal: Journal; clock?: () => number }) {
    this.#journal = options.journal;
    this.#clock = options.clock ?? Date.now;
  }

  note(actor: Principal, what: { endpoint: string; why: string }): void {
    const key = `${actor} ${what.endpoint} ${what.why}`;
    const seen = this.#seen.get(key);
    const now = this.#clock();
    // A clock that was set back must not suppress refusals for longer.
    if (seen && now >= seen.at && now - seen.at < PAUSE_MS) {
      seen.more++;
      return;
    }
    if (this.#seen.size >= MOST_KINDS) this.#seen.clear();
    this.#seen.set(key, { at: now, more: 0 });
    try {
      this.#journal.append({ type: "access.refused", actor, session: null, data: { ...what, more: seen?.more ?? 0 } });
    } catch (error) {
      // The request is refused anyway.
      log(`a refusal of ${actor} is not in the journal: ${describe(error)}`);
    }
  }
}
