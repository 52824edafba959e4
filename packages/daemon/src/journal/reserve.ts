/**
 * Reserves a little disk space for events that must not wait for free space: a run's end, a stop, a removal. On a full disk the file is deleted to
 * make space for them; when there is space again, it is created again. Mere requests (a new session, a rename) do not get it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { unwritable } from "@holdfast/contract";

/** A few hundred events. */
const BYTES = 256 * 1024;
/** Reserved only if at least this much is free. */
const PLENTY = 16 * BYTES;

export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reserves the space if it is not reserved yet and there is plenty. */
  hold(): void {
    if (existsSync(this.#path)) return;
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize >= PLENTY) writeFileSync(this.#path, randomBytes(BYTES), { mode: 0o600 });
    } catch (error) {
      if (!unwritable(error)) throw error;
    }
  }

  /** Does the work. On a full disk, gives up the reserve and tries once more. */
  spend<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (unwritable(error)?.code !== "disk_full" || !this.release()) throw error;
      return work();
    }
  }

  /** Returns true if there was a reserve to give up. */
  release(): boolean {
    try {
      unlinkSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }
}
