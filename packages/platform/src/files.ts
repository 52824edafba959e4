import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type HoldfastError, unwritable } from "@holdfast/contract/errors";

/** A few pages: the size of one event in the journal, or of what a recorder writes until the next check. */
const ROOM_BYTES = 64 * 1024;

let counter = 0;

/** Writes a temporary file and renames it: a reader sees the old content or the new, never half of it. */
export function writeFileAtomic(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${process.pid}.${++counter}.tmp`;
  try {
    writeNewFile(temporary, content, mode);
    renameSync(temporary, path);
  } catch (error) {
    try {
      unlinkSync(temporary);
    } catch {
      // The file was not created, or is gone with its directory. Report the first error.
    }
    throw error;
  }
}

/** Follows no link: whoever can write to the directory could have put one there. Replaces a file that a killed process left. */
export function writeNewFile(path: string, content: string | Uint8Array, mode: number): void {
  const write = () => writeFileSync(path, content, { mode, flag: "wx" });
  try {
    write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    unlinkSync(path);
    write();
  }
}

/** The file is on disk under its new name before this returns: neither a killed process nor a power cut leaves half of it. */
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

/** Why nothing can be written into the directory, if so. Tests with some bytes: an empty file fits on a full disk. */
export function whyUnwritable(directory: string): HoldfastError | undefined {
  const file = `${directory}/.room`;
  try {
    // A compressing file system would store any number of zeros.
    writeFileSync(file, crypto.getRandomValues(new Uint8Array(ROOM_BYTES)), { mode: 0o600 });
    return undefined;
  } catch (error) {
    return unwritable(error);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Far above any file of Holdfast, or of an agent, that is read whole. */
const LARGEST_FILE = 32 << 20;

/**
 * Reads a text file that a program of a run may have written. A pipe in its place would block forever, and a huge file would use up memory. Both are
 * refused, based on the opened file rather than an earlier check.
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

/** The parsed file, or undefined if it is missing or not JSON: the caller decides what a damaged file means. */
export function readJsonFile(path: string, most = LARGEST_FILE): unknown {
  try {
    return JSON.parse(readOrdinaryFile(path, most));
  } catch {
    return undefined;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}
