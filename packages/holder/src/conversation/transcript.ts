/**
 * Appends to a run's `transcript.jsonl`. Synchronous: when `append` returns true, the entry is with the kernel, and only then may anybody hear of it.
 *
 * What a full disk does not take waits here, in order, and is tried again; what was half written is completed by what follows. A run that
 * was begun before goes on where its file ends.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Entry, type EntryDraft, parseEntry, TRANSCRIPT_VERSION } from "@holdfast/contract/transcript";

export const TRANSCRIPT_FILE = "transcript.jsonl";

/** Beyond it what an agent says on a full disk is not kept any more: its keeper must not grow without end. */
const MOST_WAITING = 32 * 1024 * 1024;
const AGAIN_MS = 250;

export class Transcript implements Disposable {
  readonly #file: number;
  #n = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Messages that were said in this run. */
  readonly said = new Set<string>();

  constructor(directory: string) {
    const path = join(directory, TRANSCRIPT_FILE);
    this.#file = openSync(path, "a", 0o600);
    this.#goOn(readFileSync(path));
  }

  /** Whether it is on disk. */
  append(draft: EntryDraft, turn: string | null): boolean {
    if (this.#waitingBytes > MOST_WAITING && !this.#flush()) {
      this.#lost++;
      return false;
    }
    this.#push({ v: TRANSCRIPT_VERSION, n: this.#n + 1, at: new Date().toISOString(), turn, ...draft } as Entry);
    return this.#flush();
  }

  /** The same for words that must not be taken unless they are kept: false, and nothing of them was written. */
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

  /** Of words that the agent has: they wait for room like what it says. */
  appendSaid(draft: Extract<EntryDraft, { type: "user" }>, turn: string): void {
    this.said.add(draft.message);
    this.append(draft, turn);
  }

  /** Throws while something waits. */
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
