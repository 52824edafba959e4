/**
 * Schedules looks at the screens of many runs: at once when a screen begins to change, once when it settles, and once a second if it never settles.
 * One timer serves all runs, and none runs while nothing is written.
 */

/** Even the first redraw after a pause comes in several writes. */
const FIRST_MS = 30;
/** Avoids two looks for each change of a screen that changes now and then. */
const APART_MS = 350;
/** A redraw comes in several writes. People do not notice a status that is this late. */
const SETTLE_MS = 150;
const RESTLESS_MS = 1000;
/** Looks that are due at almost the same time share one wakeup. */
const GRAIN_MS = 15;

interface Stirred {
  /** Time of the last write, and time of the next look if the screen does not settle. */
  last: number;
  due: number;
}

export class Looks implements Disposable {
  readonly #look: (key: string, settled: boolean) => void;
  readonly #stirred = new Map<string, Stirred>();
  readonly #lookedAt = new Map<string, number>();
  /** Looks ordered for a certain time, whatever is written until then: the next one and the last one. */
  readonly #ordered = new Map<string, { next: number; last: number }>();
  #timer: NodeJS.Timeout | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(look: (key: string, settled: boolean) => void) {
    this.#look = look;
  }

  /** To be called when something was written. */
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

  /** For urgent output: schedules a look soon, however recent the last look. */
  hurry(key: string): void {
    const now = performance.now();
    const due = now + FIRST_MS;
    const stirred = this.#stirred.get(key);
    if (stirred) stirred.due = Math.min(stirred.due, due);
    else this.#stirred.set(key, { last: now, due });
    this.#arm(due);
  }

  /** Schedules a look, even if nothing is written. It postpones none that was ordered before. */
  order(key: string, inMs: number): void {
    const due = performance.now() + inMs;
    const { next, last } = this.#ordered.get(key) ?? { next: due, last: due };
    this.#ordered.set(key, { next: Math.min(next, due), last: Math.max(last, due) });
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
    for (const [key, { next, last }] of this.#ordered) {
      if (now < next) continue;
      if (now < last) this.#ordered.set(key, { next: last, last });
      else this.#ordered.delete(key);
      if (!due.some(([other]) => other === key)) due.push([key, !this.#stirred.has(key)]);
    }
    this.#armedFor = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const { last, due: restless } of this.#stirred.values()) next = Math.min(next, last + SETTLE_MS, restless);
    for (const ordered of this.#ordered.values()) next = Math.min(next, ordered.next);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
    for (const [key, settled] of due) {
      this.#lookedAt.set(key, now);
      this.#look(key, settled);
    }
  }
}
