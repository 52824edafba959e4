/**
 * Messages typed before, in all conversations of this home: a file with one JSON text per line, private to its owner. Each text is appended at
 * once, so that two chats keep both. A long file is shortened when it is read. A history that cannot be written does not stop the chat.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";

export const MOST_KEPT = 1000;

/** A pasted file is not worth keeping. */
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

  /** Skips a text that begins with a space, and an immediate repetition. */
  add(text: string): void {
    this.#at = this.#texts.length;
    if (text.trim() === "" || text.startsWith(" ") || text === this.#texts.at(-1) || text.length > LONGEST_KEPT) return;
    this.#texts.push(text);
    this.#at = this.#texts.length;
    if (this.#file === undefined) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // A full disk, or another user's home.
    }
  }

  /** Returns the previous text; keeps the current one as the draft. */
  older(now: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#texts.length) this.#draft = now;
    return this.#texts[--this.#at];
  }

  /** Returns the next text; after the newest, the draft. */
  newer(): string | undefined {
    if (this.#at === this.#texts.length) return undefined;
    return ++this.#at === this.#texts.length ? this.#draft : this.#texts[this.#at];
  }

  /** Index of the nearest older text that contains the words; -1 if none. */
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
    // The file stays long.
  }
}
