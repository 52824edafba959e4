import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type HoldfastError, unwritable } from "@holdfast/contract/errors";

/** A few pages: what one fact takes in the journal, or a recorder until it is looked at again. */
const ROOM_BYTES = 64 * 1024;

let counter = 0;

/** Temp + rename: a reader sees the old content or the new, never half of it. */
export function writeFileAtomic(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.${++counter}.tmp`;
  try {
    writeFileSync(temporary, content, { mode });
    renameSync(temporary, path);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // It was never created, or is gone with its directory: the first error is the one to tell.
    }
    throw error;
  }
}

/** The file is on the disk under its new name before this returns: neither a killed process nor a power cut leaves half of it there. */
export function renameDurably(from: string, to: string): void {
  syncFile(from);
  renameSync(from, to);
  syncFile(dirname(to));
}

function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Why nothing can be written into the directory, if so. By more than an inode: an empty file fits on a full disk. */
export function whyUnwritable(directory: string): HoldfastError | undefined {
  const file = `${directory}/.room`;
  try {
    // Not zeros: a file system that compresses has room for any number of them.
    writeFileSync(file, crypto.getRandomValues(new Uint8Array(ROOM_BYTES)), { mode: 0o600 });
    return undefined;
  } catch (error) {
    return unwritable(error);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Far more than anything of ours, or of an agent's that is read whole. */
const LARGEST_FILE = 32 << 20;

/**
 * The text of a file that a program of a run may have put there. A pipe in its place would never end, and a file of gigabytes would take them:
 * both are refused, as what they are and not as what they were a moment before.
 */
export function readOrdinaryFile(path: string, most = LARGEST_FILE): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (stat.size > most) throw new Error(`${path} has more than ${most >> 20} MB`);
    const bytes = Buffer.alloc(stat.size);
    let filled = 0;
    while (filled < bytes.length) {
      const read = readSync(file, bytes, filled, bytes.length - filled, filled);
      if (read === 0) break;
      filled += read;
    }
    return bytes.toString("utf8", 0, filled);
  } finally {
    closeSync(file);
  }
}

/** The parsed file, or undefined when it is missing or not JSON: the caller decides what a damaged file means. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readOrdinaryFile(path));
  } catch {
    return undefined;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}
