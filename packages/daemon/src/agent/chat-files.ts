/**
 * Follows an agent's own record of a conversation, where no hooks report it: each prompt that begins a turn, once, and the outcome of that turn.
 * Driven by file notifications of the kernel, also for new files of the project.
 *
 * The first reading also reports entries written while no daemon ran, if they belong to the run.
 */
import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { Turn } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import { textAt } from "./hooks/hook-rules.ts";
import type { Memory } from "./line-memory.ts";
import { type Ending, entryIn, filesOf, type Outcome, type Transcript, understood, type Whose } from "./transcript.ts";

/** `turn`: the turn's own id, or that of its first prompt. `over`: nothing follows. `known`: the agent's state at that time. */
export type Written = { turn: string; at: string; known: Known | null } & What;

/** Working: the model owes an answer. Idle: all turns have ended; only for transcripts with named turns. */
export interface Known {
  turn: Turn;
  at: string;
}

type What = { prompt: string } | { over: true } | Ending;

/** Bytes read per notification and at first. The screen still shows the turn of a larger paste. */
const READ_BYTES = 8 << 20;
/** Collects notifications: an agent writes several lines at once, and a database page by page. */
const TOGETHER_MS = 20;

export class ChatFiles implements Disposable {
  readonly #transcript: Transcript;
  readonly #onChange: () => void;
  #watcher: FSWatcher;
  #directory: string;
  #notice: NodeJS.Timeout | undefined;
  readonly #offsets = new Map<string, number>();
  /** For a store: the id to read after, and the ids after it that were read. */
  #after = "";
  readonly #read = new Set<string>();
  /** For a store: its last reading, and what it was like before. */
  #lastRead: { of: Whose; stamp: string } | undefined;
  readonly #memory: Memory = {};
  readonly #told = new Set<string>();
  #known: Known | null = null;
  /** Turns that began and have no recorded end; more than one only with named turns. */
  #open: string[] = [];
  #hasPrompts = false;

  /** Undefined: there is no file yet, or the system has no watches left. */
  static open(transcript: Transcript, of: Whose, onChange: () => void): ChatFiles | undefined {
    const path = transcript.prompt && transcript.path(of);
    if (path === undefined) return undefined;
    try {
      return new ChatFiles(transcript, dirname(path), onChange);
    } catch {
      return undefined;
    }
  }

  private constructor(transcript: Transcript, directory: string, onChange: () => void) {
    this.#transcript = transcript;
    this.#onChange = onChange;
    this.#directory = directory;
    this.#watcher = this.#watch(directory);
  }

  /** True if each prompt is reported. An older version may write named turns in another form. */
  get tells(): boolean {
    return !this.#transcript.named || this.#hasPrompts;
  }

  /** Returns the new entries after `since`, and the agent's state as known now. */
  read(of: Whose, since: string): { written: Written[]; known: Known | null } {
    this.#follow(of);
    const written: Written[] = [];
    for (const entry of this.#entries(of)) {
      const at = textAt(entry, "timestamp") ?? since;
      const outcome = understood(() => this.#transcript.outcome?.(entry, this.#memory));
      const concerned = outcome ? this.#concerned(outcome) : [];
      const owes = understood(() => this.#transcript.owes?.(entry));
      this.#learn(owes, { at, since });
      const note = (turn: string, at: string, what: What) => written.push({ turn, at, known: this.#known, ...what });
      for (const [turn, what] of concerned) note(turn, at, what);
      const prompt = understood(() => this.#transcript.prompt?.(entry));
      if (prompt) this.#hasPrompts = true;
      if (!prompt || this.#told.has(prompt.id) || prompt.at === null || prompt.at < since) continue;
      this.#told.add(prompt.id);
      const joined = prompt.joins ? this.#open.at(-1) : undefined;
      const turn = joined ?? prompt.turn ?? prompt.id;
      if (!this.#transcript.named && joined === undefined)
        for (const before of this.#open.splice(0)) note(before, prompt.at, { over: true });
      if (!this.#open.includes(turn)) this.#open.push(turn);
      note(turn, prompt.at, { prompt: prompt.text });
    }
    return { written, known: this.#known };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#notice);
    this.#watcher.close();
  }

  #learn(owes: string | false | null | undefined, { at, since }: { at: string; since: string }): void {
    if (owes === undefined) return;
    if (owes === null) this.#known = null;
    else if (owes !== false) this.#known = owes >= since ? { turn: "working", at: owes } : null;
    else if (!this.#transcript.named || at < since) this.#known = null;
    // With another open turn the agent is not idle.
    else if (this.#open.length === 0) this.#known = { turn: "idle", at };
  }

  /** The turns that an outcome concerns. A prompt taken into a running turn ends with that turn. */
  #concerned({ turn, ends, ...what }: Outcome): [string, What][] {
    if (!this.#transcript.named) return this.#open.map((each) => [each, what]);
    const at = turn === undefined ? -1 : this.#open.indexOf(turn);
    if (at < 0 || turn === undefined) return [];
    if (!ends) return [[turn, what]];
    const isTold = "failure" in what || ("reply" in what && what.reply !== null);
    const over: What[] = isTold ? [what, { over: true }] : [what];
    return this.#open.splice(0, at + 1).flatMap((each) => over.map((one): [string, What] => [each, one]));
  }

  /** One file at a time is in memory. */
  *#entries(of: Whose): Generator<unknown> {
    const { store } = this.#transcript;
    if (!store) {
      for (const file of filesOf(this.#transcript, of)) for (const line of this.#linesOf(file)) yield entryIn(line);
      return;
    }
    this.#lastRead = { of, stamp: store.stamp(of) };
    const { entries, after } = store.read(of, this.#after);
    const fresh = entries.filter(({ id }) => !this.#read.has(id));
    for (const { id } of fresh) this.#read.add(id);
    this.#after = after;
    yield* fresh;
  }

  /** Another conversation may be in another directory: some agents have one per day. */
  #follow(of: Whose): void {
    const path = this.#transcript.path(of);
    if (path === undefined || dirname(path) === this.#directory) return;
    const before = this.#watcher;
    this.#watcher = this.#watch(dirname(path));
    this.#directory = dirname(path);
    before.close();
  }

  #watch(directory: string): FSWatcher {
    const watcher = watch(directory, { persistent: false }, () => {
      this.#notice ??= setTimeout(() => {
        this.#notice = undefined;
        if (this.#isNew()) this.#onChange();
      }, TOGETHER_MS);
    });
    return watcher.on("error", (error) => log(`cannot watch the files of a conversation: ${describe(error)}`));
  }

  #isNew(): boolean {
    const { store } = this.#transcript;
    return !store || !this.#lastRead || store.stamp(this.#lastRead.of) !== this.#lastRead.stamp;
  }

  /** Complete lines only: the last may be half written. */
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
      // A line that is too long is skipped, or every change would read it again.
      const isTooLong = whole === 0 && read.length === READ_BYTES;
      this.#offsets.set(path, from + (isTooLong ? read.length : whole));
      return read.toString("utf8", 0, whole).split("\n");
    } finally {
      closeSync(file);
    }
  }
}
