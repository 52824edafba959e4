/**
 * Appends a run's output to segments of one megabyte, as `split` does for tmux: same names, same sizes. Synchronous: when
 * `append` returns, the bytes are with the kernel, and only then may anybody else see them.
 *
 * What cannot be written (a full disk) is lost to the recording but is no error: the program goes on. It is counted, each `append` tries
 * anew, and where the recording goes on the hole is written down with its size.
 */
import { closeSync, openSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { appendGap, type Gap } from "@holdfast/platform/gaps";
import { SEGMENT_BYTES, segmentName } from "@holdfast/platform/segments";

export class Recorder {
  readonly #directory: string;
  #segment = 0;
  #left = SEGMENT_BYTES;
  #file: number;
  #offset = 0;
  #lost = 0;
  #why = "";
  #isFull = false;
  /** Holes that are not written down yet. */
  readonly #gaps: Gap[] = [];

  constructor(directory: string) {
    this.#directory = directory;
    this.#file = this.#open(0);
  }

  /** How many of the bytes, from the first on, are in the recording now. */
  append(bytes: Uint8Array): number {
    let at = 0;
    try {
      if (this.#isFull && !hasRoom(this.#directory)) throw new NoRoom();
      this.#isFull = false;
      while (at < bytes.length) {
        if (this.#left === 0) this.#next();
        const written = writeSync(this.#file, bytes, at, Math.min(this.#left, bytes.length - at));
        this.#endHole();
        at += written;
        this.#left -= written;
        this.#offset += written;
      }
    } catch (error) {
      this.#lost += bytes.length - at;
      if (!(error instanceof NoRoom)) this.#why = reasonOf(error);
      this.#isFull = this.#why === FULL;
    }
    try {
      this.#writeGaps();
    } catch {
      // The next call tries again.
    }
    return at;
  }

  /** Nothing comes any more. Throws when a hole cannot be written down yet: to be called again. */
  finish(): void {
    this.#endHole();
    this.#writeGaps();
  }

  #endHole(): void {
    if (this.#lost === 0) return;
    this.#gaps.push({ offset: this.#offset, bytes: this.#lost, why: this.#why });
    this.#lost = 0;
  }

  #writeGaps(): void {
    for (let gap = this.#gaps[0]; gap; gap = this.#gaps[0]) {
      appendGap(this.#directory, gap);
      this.#gaps.shift();
    }
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

/** On a disk that was full. */
class NoRoom extends Error {}

const FULL = "the disk was full";

/** More than is kept aside for the facts of a stop: a flood must not take that as soon as it is given up. */
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
