/**
 * When the screens of many runs are looked at: one that begins to move, at once; one that came to rest, once; one that never does, once a second.
 * One timer for all of them, and none while nothing is written.
 */

/** The first redraw after quiet comes in several writes, too. */
const FIRST_MS = 30;
/** What moves now and then must not be looked at twice each time. */
const APART_MS = 350;
/** A redraw comes in several writes; people do not notice a status that is this late. */
const SETTLE_MS = 150;
const RESTLESS_MS = 1000;
/** Looks that are due at almost the same time are one awakening. */
const GRAIN_MS = 15;

interface Stirred {
  /** When something was last written, and when it is looked at if it does not come to rest. */
  last: number;
  due: number;
}

export class Looks implements Disposable {
  readonly #look: (key: string, settled: boolean) => void;
  readonly #stirred = new Map<string, Stirred>();
  readonly #lookedAt = new Map<string, number>();
  /** Looks that were ordered for a time, whatever is written until then. */
  readonly #ordered = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(look: (key: string, settled: boolean) => void) {
    this.#look = look;
  }

  /** Something was written. */
  stir(key: string): void {
    const now = performance.now();
    const stirred = this.#stirred.get(key);
    if (stirred) stirred.last = now;
    else {
      const due = Math.max(now + FIRST_MS, (this.#lookedAt.get(key) ?? Number.NEGATIVE_INFINITY) + APART_MS);
      this.#stirred.set(key, { last: now, due });
      this.#arm(due);
    }
    this.#arm(now + SETTLE_MS);
  }

  /** What was written says more than that something was: it is looked at soon, however short ago the last look was. */
  hurry(key: string): void {
    const now = performance.now();
    const due = now + FIRST_MS;
    const stirred = this.#stirred.get(key);
    if (stirred) stirred.due = Math.min(stirred.due, due);
    else this.#stirred.set(key, { last: now, due });
    this.#arm(due);
  }

  /** Look again in a while, even if nothing is written. */
  order(key: string, inMs: number): void {
    const due = performance.now() + inMs;
    this.#ordered.set(key, due);
    this.#arm(due);
  }

  forget(key: string): void {
    this.#stirred.delete(key);
    this.#ordered.delete(key);
    this.#lookedAt.delete(key);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#stirred.clear();
    this.#ordered.clear();
  }

  #arm(due: number): void {
    if (due >= this.#armedFor - GRAIN_MS) return;
    clearTimeout(this.#timer);
    this.#armedFor = due;
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, due - performance.now())).unref();
  }

  #wake(): void {
    const now = performance.now() + GRAIN_MS;
    const due: [key: string, settled: boolean][] = [];
    for (const [key, stirred] of this.#stirred) {
      if (now >= stirred.last + SETTLE_MS) {
        this.#stirred.delete(key);
        due.push([key, true]);
      } else if (now >= stirred.due) {
        stirred.due = now + RESTLESS_MS;
        due.push([key, false]);
      }
    }
    for (const [key, at] of this.#ordered) {
      if (now < at) continue;
      this.#ordered.delete(key);
      if (!due.some(([other]) => other === key)) due.push([key, !this.#stirred.has(key)]);
    }
    this.#armedFor = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const { last, due: restless } of this.#stirred.values()) next = Math.min(next, last + SETTLE_MS, restless);
    for (const at of this.#ordered.values()) next = Math.min(next, at);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
    for (const [key, settled] of due) {
      this.#lookedAt.set(key, now);
      this.#look(key, settled);
    }
  }
}
