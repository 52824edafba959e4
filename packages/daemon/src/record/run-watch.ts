/**
 * Watches the directory of one live run through the kernel's file notices: no timer per run. Samples the recording into times.idx at most every
 * SAMPLE_MS while bytes arrive, and never while they do not.
 *
 * A notice says that there is something to read, never what: readers use their own offset, so a merged or missed notice loses nothing. Times are
 * optional: on a full disk, or if the directory disappears, they stop, and the run and its readers continue. When a sample finds more bytes than
 * the limit, the oldest are deleted.
 *
 * Without notices (the system has no watches left), the owner calls `look` from time to time, which also tries to watch again.
 */
import { existsSync, type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { clockSteps, describe, GAPS_FILE, log } from "@holdfast/platform";
import { finishCut, keepToLimit } from "./limit.ts";
import { Recording, type Segment } from "./recording.ts";
import type { Size } from "./sample.ts";
import { Times } from "./times.ts";
import { type News, Titles } from "./titles.ts";
import { TRANSCRIPT_FILE } from "./transcript.ts";

/** A longer interval makes replays jump; a shorter one costs a file write per spinner frame. */
const SAMPLE_MS = 250;

export class RunWatch implements Disposable {
  readonly recording: Recording;
  readonly times: Times;
  /** Wall-clock time of the last output, for people. See `idleMs` for its age. */
  lastActivity: number | null;
  /** Start offset of the recording: earlier bytes were deleted. */
  begins: number;
  #watcher: FSWatcher | undefined;
  #unwatchedSaid = false;
  readonly #onExit: () => void;
  readonly #onGap: (() => void) | undefined;
  readonly #onOutput: ((watch: RunWatch) => void) | undefined;
  readonly #readers = new Set<() => void>();
  readonly #titles = new Titles();
  readonly #limit: number;
  readonly #beforeCut: ((paths: string[]) => void) | undefined;
  #sampledAt = Number.NEGATIVE_INFINITY;
  /** The recording's size when the watch began: earlier titles are old. */
  readonly #began: number;
  #activeAt: number | null;
  #steps = clockSteps();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #failing = false;

  /** `limit` in bytes, 0 for none. `beforeCut` gets the files to be deleted. */
  constructor(options: {
    directory: string;
    onExit(): void;
    onGap?(): void;
    onOutput?(watch: RunWatch): void;
    limit?: number;
    beforeCut?(paths: string[]): void;
  }) {
    this.recording = new Recording(options.directory);
    this.times = new Times(options.directory);
    this.begins = this.recording.begins();
    this.#limit = options.limit ?? 0;
    this.#beforeCut = options.beforeCut;
    this.#onExit = options.onExit;
    this.#onGap = options.onGap;
    this.#onOutput = options.onOutput;
    this.#watch();
    this.#carefully(() => this.#catchUp());
    this.#began = Math.max(0, this.#offset);
    // Read after the watch started: earlier output causes no notice.
    this.lastActivity = this.recording.lastActivity();
    this.#activeAt = this.lastActivity === null ? null : performance.now() - Math.max(0, Date.now() - this.lastActivity);
    // The program may have ended between the keeper's start and the watch.
    if (existsSync(join(options.directory, "exit.json"))) queueMicrotask(() => this.#exited());
  }

  /** Does the work of notices if there are none; otherwise nothing. */
  look(): void {
    if (this.#closed || this.#watcher) return;
    this.#watch();
    this.#tail = undefined;
    this.#onGap?.();
    this.#carefully(() => {
      const size = join(this.recording.directory, "size");
      if (existsSync(size) && readFileSync(size, "utf8") !== this.#sizeText) this.#resized();
      if (this.#size() === this.#offset) return;
      this.#sample();
      this.lastActivity = this.recording.lastActivity();
      this.#activeAt = performance.now();
      this.#onOutput?.(this);
      for (const reader of [...this.#readers]) reader();
    });
  }

  /** True if `changed` resolves promptly. */
  get hasNotices(): boolean {
    return this.#watcher !== undefined;
  }

  /** Returns the terminal titles set since the last call, and whether the output matched `words`. */
  news(words?: RegExp): News {
    let news: News = { titles: [], hasWords: false };
    if (this.#closed) return news;
    this.#carefully(() => {
      if (!this.#tail) this.#size();
      news = this.#titles.read(this.#tail?.path, { from: Math.max(0, this.#began - (this.#tail?.offset ?? 0)), words });
    });
    return news;
  }

  /** Time since the last output, by the monotonic clock. */
  idleMs(): number | null {
    return this.#activeAt === null ? null : performance.now() - this.#activeAt;
  }

  /** Resolves when there may be more to read, or the watch has ended, or the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    if (this.#closed || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#readers.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#readers.add(done);
      signal.addEventListener("abort", done);
    });
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#watcher?.close();
    this.#titles[Symbol.dispose]();
    this.#tail = undefined;
    this.#carefully(() => this.#sample());
    for (const reader of [...this.#readers]) reader();
  }

  #watch(): void {
    const { directory } = this.recording;
    try {
      this.#watcher = watch(directory, { persistent: false }, (event, name) => this.#noticed(event, name));
      this.#watcher.on("error", (error) => this.#unwatched(error));
    } catch (error) {
      this.#unwatched(error);
    }
  }

  #unwatched(error: unknown): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    if (!this.#unwatchedSaid) log(`cannot watch ${this.recording.directory}, polling it instead: ${describe(error)}`);
    this.#unwatchedSaid = true;
  }

  #noticed(event: string, name: string | null): void {
    if (this.#closed) return;
    // A file was created, deleted or renamed: perhaps the next segment.
    if (event === "rename") this.#tail = undefined;
    if (name === "exit.json") this.#exited();
    else if (name === GAPS_FILE) this.#onGap?.();
    else if (name === "size") this.#carefully(() => this.#resized());
    else if (name === null || name === TRANSCRIPT_FILE || name.startsWith("output")) this.#grew();
  }

  #grew(): void {
    this.lastActivity = Date.now();
    this.#activeAt = performance.now();
    this.#onOutput?.(this);
    for (const reader of [...this.#readers]) reader();
    if (this.#timer) return;
    const wait = this.#sampledAt + SAMPLE_MS - this.#activeAt;
    if (wait <= 0) this.#carefully(() => this.#sample());
    else this.#timer = setTimeout(() => this.#carefully(() => this.#sample()), wait).unref();
  }

  #exited(): void {
    if (!this.#closed) this.#onExit();
  }

  /** Logs an error once, and again only after a success. */
  #carefully(work: () => void): void {
    try {
      work();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log(`no times for ${this.recording.directory}: ${describe(error)}`);
      this.#failing = true;
    }
  }

  #sample(size?: Size): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sampledAt = performance.now();
    const offset = this.#size();
    if (size === undefined && offset === this.#offset) return;
    this.#offset = offset;
    this.times.append({ at: Date.now(), offset, step: this.#step(), ...(size ? { size } : {}) });
    this.#keepToLimit(offset);
  }

  /** Returns how far the clock was set since the last sample. */
  #step(): number {
    const steps = clockSteps();
    const step = steps - this.#steps;
    this.#steps = steps;
    return step;
  }

  #keepToLimit(size: number): void {
    if (this.#limit === 0 || size - this.begins <= this.#limit) return;
    const begins = keepToLimit(this.recording, { limit: this.#limit, beforeCut: this.#beforeCut });
    if (begins === undefined) return;
    this.begins = begins;
    this.times.forgetBefore(begins);
  }

  #offset = -1;
  #sizeText: string | undefined;
  #tail: Segment | undefined;

  /** Uses the growing segment until a new one is possible: listing the directory would be most of a sample's cost. */
  #size(): number {
    const now = this.#tail && statSync(this.#tail.path, { throwIfNoEntry: false })?.size;
    if (this.#tail && now !== undefined) return this.#tail.offset + now;
    this.#tail = this.recording.last();
    return this.#tail ? this.#tail.offset + this.#tail.size : 0;
  }

  #resized(): void {
    const text = readFileSync(join(this.recording.directory, "size"), "utf8");
    const match = /^(\d+) (\d+)$/.exec(text.trim());
    this.#sizeText = text;
    if (match) this.#sample({ columns: Number(match[1]), rows: Number(match[2]) });
  }

  /** Output from a time without a daemon is on disk, but its time is unknown, only that it was before now. */
  #catchUp(): void {
    const last = this.times.last();
    this.#offset = last?.offset ?? 0;
    // The clock was set back in the meantime, by at least this much.
    if (last?.at && last.at > Date.now()) this.#steps += last.at - Date.now();
    const size = this.recording.size();
    if (size > this.#offset) {
      this.#offset = size;
      this.times.append({ at: null, offset: size });
      this.times.append({ at: Date.now(), offset: size, step: this.#step() });
    }
    this.#keepToLimit(size);
    finishCut(this.recording);
  }
}
