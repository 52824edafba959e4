/**
 * Reads a run's `transcript.jsonl` from an offset, in whole lines. Unreadable lines are counted and skipped, never fatal. After the run has ended,
 * a damaged file is set aside and replaced by its readable lines.
 */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Entry, parseEntry, type UnnumberedEntry } from "@holdfast/contract";
import { isMissing, writeFileAtomic } from "@holdfast/platform";

export const TRANSCRIPT_FILE = "transcript.jsonl";

/** Bytes per read. */
const PIECE = 1024 * 1024;
const NEWLINE = 10;
/** Most lines are shorter. */
const LINE = 16 * 1024;

/** A keeper writes no longer line. A longer one is damage, and is never held in memory as a whole. */
const LONGEST_LINE = 128 << 20;

/** `end`: the offset after the entry. */
export interface ReadEntry {
  entry: Entry;
  end: number;
}

export class TranscriptFile {
  readonly path: string;

  constructor(runDirectory: string) {
    this.path = join(runDirectory, TRANSCRIPT_FILE);
  }

  /** Size in bytes; 0 if there is no file. */
  size(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Reads entries from an offset, in pieces, up to `until`. An offset inside a line means the next line. */
  *read(from: number, until = Number.POSITIVE_INFINITY): Generator<ReadEntry | { damaged: true; end: number }> {
    let file: number;
    try {
      file = openSync(this.path, "r");
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    try {
      const size = Math.min(fstatSync(file).size, until);
      const start = from === 0 ? 0 : from - 1;
      let skip = from > 0;
      let rest: Buffer[] = [];
      let held = 0;
      let at = start;
      while (at < size) {
        const piece = Buffer.alloc(Math.min(PIECE, size - at));
        const got = readSync(file, piece, 0, piece.length, at);
        if (got === 0) return;
        let line = 0;
        for (let newline = piece.indexOf(NEWLINE); newline !== -1 && newline < got; newline = piece.indexOf(NEWLINE, line)) {
          const isTooLong = held > LONGEST_LINE;
          const text = isTooLong ? "" : Buffer.concat([...rest, piece.subarray(line, newline)]).toString("utf8");
          rest = [];
          held = 0;
          line = newline + 1;
          const end = at + line;
          if (skip) skip = false;
          else if (isTooLong) yield { damaged: true, end };
          else if (text !== "") yield* readLine(text, end);
        }
        at += got;
        held += got - line;
        if (held > LONGEST_LINE) rest = [];
        else if (!skip && line < got) rest.push(piece.subarray(line, got));
      }
    } finally {
      closeSync(file);
    }
  }

  /** Cuts off an unfinished last line; returns undefined if there is none. */
  cutTorn(): { offset: number; bytes: number } | undefined {
    const size = this.size();
    if (size === 0) return undefined;
    const offset = this.#wholeLines(size);
    if (offset === size) return undefined;
    truncateSync(this.path, offset);
    return { offset, bytes: size - offset };
  }

  /** Returns the end of the last whole line. A torn line may be long. */
  #wholeLines(size: number): number {
    const file = openSync(this.path, "r");
    try {
      for (let end = size; end > 0; ) {
        const start = Math.max(0, end - PIECE);
        const piece = Buffer.alloc(end - start);
        readSync(file, piece, 0, piece.length, start);
        const newline = piece.lastIndexOf(NEWLINE);
        if (newline !== -1) return start + newline + 1;
        end = start;
      }
      return 0;
    } finally {
      closeSync(file);
    }
  }

  /** Appends closing `entries` after the keeper is gone and the torn line cut off. Writes all of them or none. */
  close(entries: readonly UnnumberedEntry[]): void {
    if (entries.length === 0) return;
    let n = 0;
    for (const read of this.read(0)) if ("entry" in read) n = Math.max(n, read.entry.n);
    const lines = entries.map((entry, index) => `${JSON.stringify({ ...entry, n: n + index + 1 })}\n`);
    const before = this.size();
    try {
      appendFileSync(this.path, lines.join(""), { mode: 0o600 });
    } catch (error) {
      if (this.size() > before) truncateSync(this.path, before);
      throw error;
    }
  }

  /** Sets a damaged file aside and keeps its readable lines; returns undefined if nothing is damaged. */
  mend(asideDirectory: string): { lines: number; aside: string | null; bytes: number } | undefined {
    let lines = 0;
    for (const read of this.read(0)) if (!("entry" in read)) lines++;
    if (lines === 0) return undefined;
    const aside = this.replace(asideDirectory, this.lines().good);
    return { lines, aside, bytes: this.size() };
  }

  isThere(): boolean {
    return statSync(this.path, { throwIfNoEntry: false }) !== undefined;
  }

  /** True if an entry ends at the offset. */
  endsAt(offset: number): boolean {
    const size = this.size();
    if (size < offset) return false;
    const file = openSync(this.path, "r");
    try {
      for (let length = Math.min(LINE, offset); ; length = Math.min(offset, length * 4)) {
        const piece = Buffer.alloc(length);
        readSync(file, piece, 0, length, offset - length);
        if (piece.at(-1) !== NEWLINE) return false;
        const begin = piece.subarray(0, -1).lastIndexOf(NEWLINE) + 1;
        if (begin === 0 && length < offset) continue;
        return parseEntry(piece.subarray(begin, -1).toString("utf8")) !== "damaged";
      }
    } finally {
      closeSync(file);
    }
  }

  /** Returns readable lines, including those of a newer version, and the number of damaged ones. */
  lines(): { good: string[]; damaged: number } {
    const all = this.isThere()
      ? readFileSync(this.path, "utf8")
          .split("\n")
          .filter((line) => line !== "")
      : [];
    const good = all.filter((line) => parseEntry(line) !== "damaged");
    return { good, damaged: all.length - good.length };
  }

  /** Replaces the file with these lines. The old file is set aside first; returns null if it was missing or empty. */
  replace(asideDirectory: string, lines: readonly string[]): string | null {
    const aside = this.size() === 0 ? null : this.#setAside(asideDirectory);
    writeFileAtomic(this.path, lines.map((line) => `${line}\n`).join(""));
    return aside;
  }

  #setAside(directory: string): string {
    const run = basename(dirname(this.path));
    const session = basename(dirname(dirname(dirname(this.path))));
    const aside = join(directory, `transcript-${session}-${run}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}.jsonl`);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    copyFileSync(this.path, aside);
    return aside;
  }
}

function* readLine(text: string, end: number): Generator<ReadEntry | { damaged: true; end: number }> {
  const entry = parseEntry(text);
  if (entry === "damaged") yield { damaged: true, end };
  // An entry of a newer version is unknown, not damaged.
  else if (entry !== "unknown") yield { entry, end };
}
