/**
 * What was said before, in all conversations of this home: a file of one JSON text a line, for its owner alone. Each is appended as it is
 * said, so that two chats at once keep both; a file that has grown is cut when it is read. That it cannot be kept is no reason not to talk.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";

export const MOST_KEPT = 1000;

/** A file from a paste is not something to go back to. */
const LONGEST_KEPT = 20_000;

export class History {
  readonly #file: string | undefined;
  #texts: string[];
  #at: number;
  #draft = "";

  constructor(file: string | undefined) {
    this.#file = file;
    this.#texts = file === undefined ? [] : read(file);
    this.#at = this.#texts.length;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** One that begins with a blank is not kept, nor the same one again. */
  add(text: string): void {
    this.#at = this.#texts.length;
    if (text.trim() === "" || text.startsWith(" ") || text === this.#texts.at(-1) || text.length > LONGEST_KEPT) return;
    this.#texts.push(text);
    this.#at = this.#texts.length;
    if (this.#file === undefined) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // A full disk, a home of somebody else's.
    }
  }

  /** The one before, in place of what is there now. */
  older(now: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#texts.length) this.#draft = now;
    return this.#texts[--this.#at];
  }

  /** The one after; behind the newest is what was being typed. */
  newer(): string | undefined {
    if (this.#at === this.#texts.length) return undefined;
    return ++this.#at === this.#texts.length ? this.#draft : this.#texts[this.#at];
  }

  /** Where the next text that has the words in it is, going back from an index; -1: nowhere. */
  search(words: string, before: number): number {
    for (let at = Math.min(before, this.#texts.length) - 1; at >= 0; at--) if (this.#texts[at]?.includes(words)) return at;
    return -1;
  }
}

function read(file: string): string[] {
  let lines: string[];
  try {
    lines = readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
  const texts = lines.flatMap((line) => {
    try {
      const text: unknown = JSON.parse(line);
      return typeof text === "string" ? [text] : [];
    } catch {
      return [];
    }
  });
  const kept = texts.slice(-MOST_KEPT);
  if (texts.length > MOST_KEPT * 2) rewrite(file, kept);
  return kept;
}

function rewrite(file: string, texts: readonly string[]): void {
  try {
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, texts.map((text) => `${JSON.stringify(text)}\n`).join(""), { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    // It stays as long as it is.
  }
}
