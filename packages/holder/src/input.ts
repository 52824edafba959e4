/**
 * Keys and pastes on their way to the program, in order and in one piece each. A terminal takes a few kilobytes at a time and then
 * no more until the program reads; the program may itself wait for its output to be read. So nothing here ever blocks: what is not
 * taken waits, and is offered again.
 */
import { writeSync } from "node:fs";

/** Only while input waits for a program that is slow to read it. */
const RETRY_MS = 2;
const LONGEST_RETRY_MS = 50;

export class Input {
  readonly #terminal: number;
  readonly #waiting: Uint8Array[] = [];
  #timer: NodeJS.Timeout | undefined;
  #pause = RETRY_MS;

  /** The descriptor must be non-blocking. */
  constructor(terminal: number) {
    this.#terminal = terminal;
  }

  write(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    if (!this.#timer) this.#offer();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }

  #offer(): void {
    this.#timer = undefined;
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      const taken = this.#take(first);
      if (taken < first.length) {
        this.#waiting[0] = first.subarray(taken);
        this.#pause = taken > 0 ? RETRY_MS : Math.min(this.#pause * 2, LONGEST_RETRY_MS);
        this.#timer = setTimeout(() => this.#offer(), this.#pause);
        return;
      }
      this.#waiting.shift();
    }
    this.#pause = RETRY_MS;
  }

  /** How many bytes the terminal took. */
  #take(bytes: Uint8Array): number {
    let taken = 0;
    try {
      while (taken < bytes.length) taken += writeSync(this.#terminal, bytes, taken, bytes.length - taken);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The program has gone, and its end is on the way: nobody will read this.
      if (code === "EIO" || code === "EBADF") this.#waiting.length = 0;
      else if (code !== "EAGAIN") throw error;
    }
    return taken;
  }
}
