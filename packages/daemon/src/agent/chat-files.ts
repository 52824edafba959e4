/**
 * Follows the files in which an agent writes its conversation down itself, where it has no hooks that would tell: each prompt that begins a turn, once,
 * and what becomes of that turn. Driven by the kernel's file notices, of a new file of its project too; no timer.
 *
 * What was written while no daemon ran is told at the start, as far as it is of the run.
 */
import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, watch } from "node:fs";
import { dirname } from "node:path";
import { describe, log } from "@holdfast/platform";
import { textAt } from "./hooks/hook-rules.ts";
import { filesOf, type Outcome, parsed, type Transcript, type Whose } from "./transcript.ts";

/** `turn`: the id of the prompt that began it. `over`: another has begun. */
export type Written = { turn: string; at: string } & ({ prompt: string } | { over: true } | Outcome);

/** Of one notice, and of what came before the first: who pastes more has a turn that is seen on its screen. */
const READ_BYTES = 8 << 20;

export class ChatFiles implements Disposable {
  readonly #transcript: Transcript;
  readonly #watcher: FSWatcher;
  readonly #offsets = new Map<string, number>();
  readonly #told = new Set<string>();
  #owes: string | null = null;
  #turn: string | null = null;

  /** Undefined: there is no file yet, or the system has no watches left. */
  static open(transcript: Transcript, of: Whose, onChange: () => void): ChatFiles | undefined {
    const path = transcript.prompt && transcript.path(of);
    if (path === undefined) return undefined;
    try {
      return new ChatFiles(transcript, watch(dirname(path), { persistent: false }, onChange));
    } catch {
      return undefined;
    }
  }

  private constructor(transcript: Transcript, watcher: FSWatcher) {
    this.#transcript = transcript;
    this.#watcher = watcher;
    watcher.on("error", (error) => log(`cannot watch the files of a conversation: ${describe(error)}`));
  }

  /** What has come since the last time, and after `since`; and since when the model owes an answer, if it does. */
  read(of: Whose, since: string): { written: Written[]; owes: string | null } {
    const written: Written[] = [];
    const lines = filesOf(this.#transcript, of).flatMap((file) => this.#linesOf(file));
    for (const entry of lines.map(parsed)) {
      const owes = this.#transcript.owes?.(entry);
      if (owes !== undefined) this.#owes = owes !== false && owes >= since ? owes : null;
      const outcome = this.#turn === null ? undefined : this.#transcript.outcome?.(entry);
      if (this.#turn !== null && outcome) written.push({ turn: this.#turn, at: textAt(entry, "timestamp") ?? since, ...outcome });
      const prompt = this.#transcript.prompt?.(entry);
      if (!prompt || this.#told.has(prompt.id) || prompt.at === null || prompt.at < since) continue;
      this.#told.add(prompt.id);
      if (this.#turn !== null) written.push({ turn: this.#turn, at: prompt.at, over: true });
      this.#turn = prompt.id;
      written.push({ turn: prompt.id, at: prompt.at, prompt: prompt.text });
    }
    return { written, owes: this.#owes };
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }

  /** Whole lines only: the last may be half written. */
  #linesOf(path: string): string[] {
    let file: number;
    try {
      file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch {
      return [];
    }
    try {
      const stat = fstatSync(file);
      const size = stat.isFile() ? stat.size : 0;
      const known = this.#offsets.get(path) ?? 0;
      const from = Math.max(known > size ? 0 : known, size - READ_BYTES);
      if (from === size) return [];
      const bytes = Buffer.allocUnsafe(size - from);
      const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
      const whole = read.lastIndexOf(10) + 1;
      this.#offsets.set(path, from + whole);
      return read.toString("utf8", 0, whole).split("\n");
    } finally {
      closeSync(file);
    }
  }
}
