/** Allows a burst, then a fixed rate per second; counts dropped items. */
export class TokenBucket {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #clock: () => number;
  #tokens: number;
  #at: number;
  passed = 0;
  dropped = 0;

  constructor({ burst, perSecond, clock = () => performance.now() }: { burst: number; perSecond: number; clock?: () => number }) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#tokens = burst;
    this.#at = clock();
  }

  take(): boolean {
    const now = this.#clock();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#tokens < 1) {
      this.dropped++;
      return false;
    }
    this.#tokens--;
    this.passed++;
    return true;
  }
}
