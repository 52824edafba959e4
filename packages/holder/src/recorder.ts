/**
 * Appends a run's output to segments of one megabyte, as `split` does for tmux: same names, same sizes. Synchronous: when
 * `append` returns, the bytes are with the kernel, and only then may anybody else see them.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const SEGMENT_BYTES = 1 << 20;

export class Recorder implements Disposable {
  readonly #directory: string;
  #segment = 0;
  #left = SEGMENT_BYTES;
  #file: number;

  constructor(directory: string) {
    this.#directory = directory;
    this.#file = this.#open();
  }

  append(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left === 0) this.#next();
      const written = writeSync(this.#file, bytes, at, Math.min(this.#left, bytes.length - at));
      at += written;
      this.#left -= written;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #next(): void {
    this.#segment++;
    const file = this.#open();
    closeSync(this.#file);
    this.#file = file;
    this.#left = SEGMENT_BYTES;
  }

  #open(): number {
    return openSync(join(this.#directory, `output.${String(this.#segment).padStart(6, "0")}`), "a", 0o600);
  }
}
