import { formatBytes } from "../text/bytes.ts";

/** Short work needs no progress. */
const FIRST_MS = 500;
const EVERY_MS = 100;

/** Shows progress of long work on standard error, only on a terminal. */
export class Progress implements Disposable {
  readonly #total: number;
  readonly #shown = process.stderr.isTTY === true;
  #next = performance.now() + FIRST_MS;
  #isOnScreen = false;
  #done = 0;

  constructor(total: number) {
    this.#total = total;
  }

  add(bytes: number): void {
    this.#done += bytes;
    if (!this.#shown || performance.now() < this.#next) return;
    this.#next = performance.now() + EVERY_MS;
    this.#isOnScreen = true;
    process.stderr.write(`\r${Math.floor((100 * this.#done) / this.#total)} % of ${formatBytes(this.#total)}\x1b[K`);
  }

  [Symbol.dispose](): void {
    if (this.#isOnScreen) process.stderr.write("\r\x1b[K");
  }
}
