/**
 * The newest events, as they would be read from the database. A dozen readers follow the journal, and all but one that came late ask for what was just
 * appended: none of them needs the database for it.
 */
import type { AnyEvent, HoldfastEvent, SessionId } from "@holdfast/contract";

/** Beyond these the oldest go, by number and by the characters of what they say. */
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
  /** All events after this one are here. */
  #after: number;

  constructor(after: number) {
    this.#after = after;
  }

  /** `text`: its data as it was written. */
  add(head: HoldfastEvent, text: string): void {
    this.#kept.push({ head, text, event: undefined });
    this.#chars += text.length;
    if (this.#kept.length > MOST_EVENTS || this.#chars > MOST_CHARS) this.#forgetOldest();
  }

  /** Those after `seq`, oldest first; undefined: not all of them are here. */
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

  /** Half of them at once: an array's first goes no sooner than all. */
  #forgetOldest(): void {
    do {
      const gone = this.#kept.splice(0, Math.max(1, this.#kept.length >> 1));
      this.#after += gone.length;
      for (const { text } of gone) this.#chars -= text.length;
    } while (this.#chars > MOST_CHARS);
  }
}
