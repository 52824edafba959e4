/**
 * Reads the end of a growing recording: the titles that a program gives its terminal, and whether it wrote certain words. The screen shows only the
 * last title, and an agent's turn may end between two looks. The file stays open, so a spinner in the title costs one read per frame.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Bytes per read. Of a flood, only the end is read. */
const READ_BYTES = 64 << 10;
/** Longer text is not a title. */
const LONGEST = 1024;

/** Shared by all instances, because nothing in it is kept. */
const BUFFER = Buffer.allocUnsafe(READ_BYTES);

const ESC = "\x1b";
const BEL = "\x07";
const TITLE = new RegExp(`${ESC}\\][02];([^${BEL}${ESC}]*)(?:${BEL}|${ESC}\\\\)`, "g");

export interface News {
  titles: string[];
  /** True if the output contains the words, which are ASCII. Words split between two reads are missed: they are a hint, not evidence. */
  hasWords: boolean;
}

export class Titles implements Disposable {
  #path: string | undefined;
  #file: number | undefined;
  #offset = 0;

  /** Returns new titles since the last call. `path`: the growing segment. `from`: the offset in the first segment where reading begins. */
  read(path: string | undefined, { from = 0, words }: { from?: number; words?: RegExp | undefined } = {}): News {
    if (path === this.#path) return this.#more(words);
    const before = this.#more(words);
    const isFirst = this.#path === undefined;
    this.#open(path, isFirst ? from : 0);
    const after = this.#more(words);
    return { titles: [...before.titles, ...after.titles], hasWords: before.hasWords || after.hasWords };
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(path: string | undefined, offset: number): void {
    this[Symbol.dispose]();
    this.#path = path;
    if (path === undefined) return;
    try {
      this.#file = openSync(path, "r");
      this.#offset = offset;
    } catch {
      // The segment was just deleted.
      this.#path = undefined;
    }
  }

  #more(words: RegExp | undefined): News {
    if (this.#file === undefined) return { titles: [], hasWords: false };
    let read = readSync(this.#file, BUFFER, 0, READ_BYTES, this.#offset);
    if (read === READ_BYTES) {
      this.#offset = Math.max(this.#offset, fstatSync(this.#file).size - READ_BYTES);
      read = readSync(this.#file, BUFFER, 0, READ_BYTES, this.#offset);
    }
    const bytes = BUFFER.subarray(0, read);
    const open = bytes.lastIndexOf(`${ESC}]`);
    // Titles are searched in single bytes, which is faster; only their own text is decoded.
    const text = bytes.toString("latin1");
    const titles = open < 0 ? [] : Array.from(text.matchAll(TITLE), ([, title = ""]) => Buffer.from(title, "latin1").toString("utf8"));
    // A half-written title is read again with its rest.
    const isHalf = open >= 0 && read - open < LONGEST && !isEnded(bytes.toString("latin1", open));
    this.#offset += isHalf ? open : bytes.at(-1) === 0x1b ? read - 1 : read;
    return { titles, hasWords: words?.test(text) ?? false };
  }
}

function isEnded(title: string): boolean {
  return title.includes(BEL) || title.includes(`${ESC}\\`);
}
