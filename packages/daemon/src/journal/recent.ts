/**
 * The newest events, as they would be read from the database. About a dozen readers follow the journal, and except for late ones they all read the
 * latest events, without using the database.
 */
import type { AnyEvent, HoldfastEvent, SessionId } from "@holdfast/contract";

/** Limits on the number of events and the characters of their data. */
const MOST_EVENTS = 500;
const MOST_CHARS = 256 * 1024;

interface Kept {
  head: HoldfastEvent;
  text: string;
  event: AnyEvent | undefined;
}

export class RecentEvents {
  #kept: Kept[] = [];
  #chars = 0;
  /** All events after this number are here. */
  #after: number;

  constructor(after: number) {
    this.#after = after;
  }

  /** `text`: the event's data as written. */
  add(head: HoldfastEvent, text: string): void {
    this.#kept.push({ head, text, event: undefined });
    this.#chars += text.length;
    if (this.#kept.length > MOST_EVENTS || this.#chars > MOST_CHARS) this.#forgetOldest();
  }

  /** Returns events after `seq`, oldest first; undefined if not all of them are here. */
  readAfter(
    seq: number,
    limit: number,
    { session, types }: { session: SessionId | undefined; types: readonly string[] | undefined },
  ): AnyEvent[] | undefined {
    if (seq < this.#after) return undefined;
    const found: AnyEvent[] = [];
    for (let place = seq - this.#after; place < this.#kept.length && found.length < limit; place++) {
      const kept = this.#kept[place] as Kept;
      if (session !== undefined && kept.head.session !== session) continue;
      if (types !== undefined && !types.includes(kept.head.type)) continue;
      kept.event ??= { ...kept.head, data: JSON.parse(kept.text) } as AnyEvent;
      found.push(kept.event);
    }
    return found;
  }

  /** Drops half at once: removing an array's first element costs as much as removing many. */
  #forgetOldest(): void {
    do {
      const gone = this.#kept.splice(0, Math.max(1, this.#kept.length >> 1));
      this.#after += gone.length;
      for (const { text } of gone) this.#chars -= text.length;
    } while (this.#chars > MOST_CHARS);
  }
}
