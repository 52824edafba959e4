/**
 * Wakes those who wait for a message in a mailbox. Only arrivals in that mailbox wake them, not every event of the journal: otherwise sixty-four
 * waiting members of a group would each look at every message of every other.
 */
import type { HoldfastEvent, Principal, SessionId } from "@holdfast/contract";
import type { Journal } from "../journal/journal.ts";

export class Arrivals {
  readonly #waiting = new Map<Principal | SessionId, Set<() => void>>();

  constructor(journal: Journal) {
    journal.followWith((event) => {
      const mailbox = mailboxOf(event);
      // The event is not written yet; a waiter looks once it is.
      if (mailbox !== null && this.#waiting.has(mailbox)) setImmediate(() => this.#tell(mailbox));
      return [];
    });
  }

  /** Resolves when something may have arrived, or when the signal aborts. */
  async in(mailbox: Principal | SessionId, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const all = this.#waiting.get(mailbox) ?? new Set();
      this.#waiting.set(mailbox, all);
      const done = () => {
        all.delete(done);
        if (all.size === 0 && this.#waiting.get(mailbox) === all) this.#waiting.delete(mailbox);
        signal.removeEventListener("abort", done);
        resolve();
      };
      all.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #tell(mailbox: Principal | SessionId): void {
    for (const done of [...(this.#waiting.get(mailbox) ?? [])]) done();
  }
}

/** Any change to a message may be what another one waited for. */
function mailboxOf({ type, session, data }: HoldfastEvent): Principal | SessionId | null {
  if (type === "message.queued") return session ?? data.to ?? null;
  return type.startsWith("message.") ? session : null;
}
