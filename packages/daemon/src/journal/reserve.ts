/**
 * A little room on the disk, kept for facts that must not wait until somebody has made some: how a run ended, that it was stopped, that it
 * is to be forgotten. When the disk is full the file goes, and its room is theirs; when there is room again it comes back. What somebody
 * merely asks for (a new session, another name) does not get it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { unwritable } from "@holdfast/contract";

/** Some hundred facts. */
const BYTES = 256 * 1024;
/** Taken only where nobody misses it. */
const PLENTY = 16 * BYTES;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the room if it is not taken and there is plenty. */
  hold(): void {
    if (existsSync(this.#path)) return;
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize >= PLENTY) writeFileSync(this.#path, randomBytes(BYTES), { mode: 0o600 });
    } catch (error) {
      if (!unwritable(error)) throw error;
    }
  }

  /** Does the work; once more, with the reserve given up, when the disk is full. */
  spend<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (unwritable(error)?.code !== "disk_full" || !this.release()) throw error;
      return work();
    }
  }

  /** Whether there was something to give. */
  release(): boolean {
    try {
      unlinkSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }
}
