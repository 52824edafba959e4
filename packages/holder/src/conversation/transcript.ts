/**
 * Appends to a run's `transcript.jsonl`. Synchronous: when `append` returns true, the kernel has the entry, and only then may anybody learn of it.
 *
 * Entries that do not fit on a full disk wait here, in order, and are retried; a partly written line is completed by the next write. A run that was
 * begun before continues at the end of its file.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Entry, type EntryDraft, parseEntry, TRANSCRIPT_VERSION } from "@holdfast/contract/conversation/transcript";

export const TRANSCRIPT_FILE = "transcript.jsonl";

/** Beyond this size an agent's entries are dropped on a full disk, because the keeper must not grow without end. */
const MOST_WAITING = 32 * 1024 * 1024;
const AGAIN_MS = 250;

export class Transcript implements Disposable {
  readonly #file: number;
  #n = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Messages that were sent in this run. */
  readonly said = new Set<string>();

  constructor(directory: string) {
    const path = join(directory, TRANSCRIPT_FILE);
    this.#file = openSync(path, "a", 0o600);
    this.#goOn(readFileSync(path));
  }

  /** Whether the entry is on disk. */
  append(draft: EntryDraft, turn: string | null): boolean {
    if (this.#waitingBytes > MOST_WAITING && !this.#flush()) {
      this.#lost++;
      return false;
    }
    this.#push({ v: TRANSCRIPT_VERSION, n: this.#n + 1, at: new Date().toISOString(), turn, ...draft } as Entry);
    return this.#flush();
  }

  /** As `append`, for a message that must not be accepted unless it is stored: on false, nothing of it was written. */
  appendOrRefuse(draft: Extract<EntryDraft, { type: "user" }>, turn: string | null): boolean {
    if (!this.#flush()) return false;
    const before = fstatSync(this.#file).size;
    if (!this.append(draft, turn)) {
      ftruncateSync(this.#file, before);
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#n--;
      return false;
    }
    this.said.add(draft.message);
    return true;
  }

  /** For a message that the agent already has: it waits for disk space like the agent's own entries. */
  appendSaid(draft: Extract<EntryDraft, { type: "user" }>, turn: string): void {
    this.said.add(draft.message);
    this.append(draft, turn);
  }

  /** Throws while an entry waits. */
  finish(): void {
    if (!this.#flush()) throw Object.assign(new Error("the transcript waits for disk space"), { code: "ENOSPC" });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    closeSync(this.#file);
  }

  #push(entry: Entry): void {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    this.#n++;
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
  }

  #flush(): boolean {
    try {
      for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
        const written = writeSync(this.#file, line);
        this.#waitingBytes -= written;
        if (written < line.length) this.#waiting[0] = line.subarray(written);
        else this.#waiting.shift();
      }
      if (this.#lost > 0) this.#tellLost();
      return this.#waiting.length === 0;
    } catch {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#flush();
      }, AGAIN_MS);
      return false;
    }
  }

  #tellLost(): void {
    const text = `the disk was full for too long: ${this.#lost} entries were lost`;
    this.#lost = 0;
    this.append({ type: "note", about: "lost", text }, null);
  }

  #goOn(content: Buffer): void {
    const whole = content.lastIndexOf("\n") + 1;
    const torn = content.length - whole;
    if (torn > 0) ftruncateSync(this.#file, whole);
    for (const line of content.subarray(0, whole).toString("utf8").split("\n")) {
      if (line === "") continue;
      this.#n++;
      const entry = parseEntry(line);
      if (typeof entry === "object" && entry.type === "user") this.said.add(entry.message);
    }
    const text = `the last entry was incomplete: ${torn} bytes were lost`;
    if (torn > 0) this.append({ type: "note", about: "recovered", text }, null);
  }
}
