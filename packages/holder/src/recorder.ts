/**
 * Appends a run's output to segments of one megabyte, as `split` does for tmux: same names, same sizes. Synchronous: when
 * `append` returns, the kernel has the bytes, and only then may anybody else see them.
 *
 * Output that cannot be written (on a full disk) is lost to the recording, which is no error: the program continues. The lost bytes are
 * counted, each `append` tries again, and before the recording continues, a gap with their number is recorded.
 */
import { closeSync, openSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { appendGap } from "@holdfast/platform/gaps";
import { SEGMENT_BYTES, segmentName } from "@holdfast/platform/segments";

export class Recorder {
  readonly #directory: string;
  #segment = 0;
  #left = SEGMENT_BYTES;
  #file: number;
  #offset = 0;
  #lost = 0;
  #lostAt = 0;
  #why = "";
  #isFull = false;
  /** The last recorded gap. */
  #gap: { offset: number; at: number } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
    this.#file = this.#open(0);
  }

  /** Returns how many of the bytes, from the first on, are in the recording. */
  append(bytes: Uint8Array): number {
    let at = 0;
    try {
      if (this.#isFull && !hasRoom(this.#directory)) throw new NotYet();
      this.#isFull = false;
      if (this.#lost > 0) this.#endHole();
      while (at < bytes.length) {
        if (this.#left === 0) this.#next();
        const written = writeSync(this.#file, bytes, at, Math.min(this.#left, bytes.length - at));
        at += written;
        this.#left -= written;
        this.#offset += written;
      }
    } catch (error) {
      if (this.#lost === 0) this.#lostAt = Date.now();
      this.#lost += bytes.length - at;
      if (!(error instanceof NotYet)) this.#why = reasonOf(error);
      this.#isFull = this.#why === FULL;
    }
    return at;
  }

  /** No output follows. Throws if a gap cannot be recorded yet, and must be called again then. */
  finish(): void {
    if (this.#lost > 0) this.#writeGap();
  }

  /** A gap that grows after it was recorded is recorded again, so this does not happen at every attempt. */
  #endHole(): void {
    if (this.#gap?.offset === this.#offset && performance.now() < this.#gap.at + AGAIN_MS) throw new NotYet();
    if (this.#left === 0) this.#next();
    this.#writeGap();
    this.#gap = { offset: this.#offset, at: performance.now() };
  }

  #writeGap(): void {
    appendGap(this.#directory, { offset: this.#offset, bytes: this.#lost, why: this.#why, at: this.#lostAt });
    this.#lost = 0;
  }

  #next(): void {
    const file = this.#open(this.#segment + 1);
    closeSync(this.#file);
    this.#file = file;
    this.#segment++;
    this.#left = SEGMENT_BYTES;
  }

  #open(segment: number): number {
    return openSync(join(this.#directory, segmentName(segment)), "a", 0o600);
  }
}

/** The write would fail again, for the same reason. */
class NotYet extends Error {}

/** With a shorter time, a disk that accepts a line about a gap but not the output after it would get many such lines. */
const AGAIN_MS = 1000;

const FULL = "the disk was full";

/** More than the reserve for recording a stop: a flood must not use that space as soon as it is released. */
const ROOM_BYTES = 512 * 1024;

function hasRoom(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= ROOM_BYTES;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return FULL;
  return code === "EROFS" ? "the disk was read-only" : message;
}
