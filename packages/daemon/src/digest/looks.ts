/**
 * The journal position up to which each principal has seen each session. A look is recorded at most once a minute; later ones of the same minute
 * are kept here and recorded when the minute is over or the daemon ends. If the daemon dies in between, some news is shown twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { type Principal, type SessionId, unwritable } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";
import { type Look, lookOf } from "../projection/looks.ts";

const EVERY_MS = 60_000;

interface Kept {
  session: SessionId;
  principal: Principal;
  /** The monotonic time of the last recorded look. */
  writtenAt: number;
  /** A look that is not recorded yet. */
  look: Look | undefined;
}

export class Looks implements Disposable {
  readonly #journal: Journal;
  readonly #db: DatabaseSync;
  readonly #kept = new Map<string, Kept>();
  readonly #everyMs: number;
  readonly #isThere: (session: SessionId) => boolean;
  #timer: NodeJS.Timeout | undefined;

  /** `isThere`: false for a removed session. */
  constructor(options: { journal: Journal; db: DatabaseSync; isThere(session: SessionId): boolean; everyMs?: number }) {
    this.#journal = options.journal;
    this.#db = options.db;
    this.#isThere = options.isThere;
    this.#everyMs = options.everyMs ?? EVERY_MS;
  }

  of(session: SessionId, principal: Principal): Look | undefined {
    return this.#kept.get(`${session} ${principal}`)?.look ?? lookOf(this.#db, session, principal);
  }

  /** Never goes back: a person who looks in two places at once has seen what the later one shows. */
  note(session: SessionId, principal: Principal, { upTo, head }: { upTo: number; head: string | null }): void {
    const last = this.of(session, principal);
    if (last && last.upTo > upTo) return;
    const key = `${session} ${principal}`;
    const kept = this.#kept.get(key) ?? { session, principal, writtenAt: Number.NEGATIVE_INFINITY, look: undefined };
    this.#kept.set(key, { ...kept, look: { upTo, head, at: new Date().toISOString() } });
    this.#write(performance.now());
  }

  /** Records the looks that are due, and schedules the rest. */
  #write(now: number): void {
    let next = Number.POSITIVE_INFINITY;
    for (const [key, kept] of this.#kept) {
      const dueIn = kept.writtenAt + this.#everyMs - now;
      if (dueIn <= 0 && kept.look) this.#append({ ...kept, look: kept.look });
      if (dueIn > 0) next = Math.min(next, dueIn);
      else if (kept.look) this.#kept.set(key, { ...kept, writtenAt: now, look: undefined });
      else this.#kept.delete(key);
    }
    clearTimeout(this.#timer);
    if (next < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#write(performance.now()), next).unref();
  }

  /** An unwritable journal does not prevent a look: the news is only shown again. */
  #append({ session, principal, look }: Kept & { look: Look }): void {
    // The event would outlive all others of a removed session.
    if (!this.#isThere(session)) return;
    try {
      const data = { upTo: look.upTo, head: look.head };
      this.#journal.append({ type: "session.looked_at", actor: principal, session, data });
    } catch (error) {
      if (!unwritable(error)) throw error;
      log(`not in the journal: ${principal} viewed session ${session}: ${describe(error)}`);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#write(Number.POSITIVE_INFINITY);
    this.#kept.clear();
    clearTimeout(this.#timer);
  }
}
