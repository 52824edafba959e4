/**
 * Plays the steps of a recording on a terminal, in their time. One loop feeds the emulator and waits for the next step's time. Keys, signals and
 * resizes only change that wait and wake the loop. The screen is drawn at most every FRAME_MS.
 */
import { gapNote, gapText } from "../recording/gap-note.ts";
import type { Step } from "../recording/timeline.ts";
import { formatBytes } from "../text/bytes.ts";
import { PlayClock } from "./clock.ts";
import { WatchedScreen } from "./screen.ts";
import { SLICE, View } from "./view.ts";

/** Shorter than a person can see. */
const FRAME_MS = 33;

/** Updates the time in the status line while there is no output. */
const STATUS_MS = 250;

/** A note stays long enough to be read. */
const NOTE_MS = 4000;

const SLOWEST = 1 / 16;
const FASTEST = 1024;

/** One key press: an escape sequence or a character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them
const KEY = /\x1b[[O][\d;]*[A-Za-z~]|[\s\S]/g;
const NEXT = new Set(["n", "\x1b[C", "\x1bOC"]);
const CTRL_C = "\x03";
const CTRL_Z = "\x1a";

const UNKNOWN_SIZE = { columns: 120, rows: 40 };

export interface Played {
  /** The position reached, in recorded milliseconds. */
  at: number;
  finished: boolean;
  untimedBytes: number;
  signal: NodeJS.Signals | undefined;
}

export class Player implements Disposable {
  readonly #name: string;
  readonly #durationMs: number;
  readonly #from: number;
  readonly #idleLimit: number | undefined;
  readonly #clock: PlayClock;
  readonly #view = new View(UNKNOWN_SIZE);
  readonly #screen: WatchedScreen;
  #wake: () => void = () => {};
  #left = false;
  #signal: NodeJS.Signals | undefined;
  #finished = false;
  #skip = false;
  #untimedBytes = 0;
  #note = "";
  #noteStays = 0;
  #lastFrame = 0;
  #frame: NodeJS.Timeout | undefined;

  constructor(options: { name: string; durationMs: number; from: number; speed: number; idleLimit: number | undefined }) {
    this.#name = options.name;
    this.#durationMs = options.durationMs;
    this.#from = options.from;
    this.#idleLimit = options.idleLimit;
    this.#clock = new PlayClock(options.speed);
    this.#screen = new WatchedScreen({
      onKeys: (keys) => this.#pressed(keys),
      onResize: () => {
        this.#view.forget();
        this.#draw();
      },
      onEnd: (signal) => {
        this.#signal = signal;
        this.#left = true;
        this.#wake();
      },
    });
  }

  async play(steps: AsyncIterable<Step>): Promise<Played> {
    this.#clock.run();
    for await (const step of steps) {
      await this.#reach(step);
      if (this.#left) break;
      await this.#show(step);
    }
    this.#finished = !this.#left;
    if (this.#finished) {
      this.#clock.jump(Math.max(this.#clock.position, this.#durationMs));
      this.#clock.pause();
      this.#draw();
      while (!this.#left) await this.#wait(60_000);
    }
    return { at: this.#clock.position, finished: this.#finished, untimedBytes: this.#untimedBytes, signal: this.#signal };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#frame);
    this.#screen[Symbol.dispose]();
    this.#view[Symbol.dispose]();
  }

  /** Waits until the step's time comes, or the person leaves. */
  async #reach(step: Step): Promise<void> {
    if (step.at >= this.#from && this.#clock.position < this.#from) this.#clock.jump(this.#from);
    if (step.at < this.#from || step.kind === "timed") this.#clock.jump(step.at);
    // Output of unknown time is played at once; playback continues from there when times are known again.
    else if (step.kind === "gap" || step.kind === "untimed" || (step.kind === "output" && !step.timed)) await this.#whilePaused();
    else await this.#comes(step.at);
    this.#skip = false;
  }

  async #comes(at: number): Promise<void> {
    const pause = at - this.#clock.position;
    if (this.#idleLimit !== undefined && pause > this.#idleLimit) {
      this.#note = `a pause of ${timeText(pause)} shortened`;
      this.#clock.jump(at - this.#idleLimit);
    }
    for (;;) {
      await this.#whilePaused();
      const left = this.#clock.until(at);
      if (this.#left || left === 0) return;
      if (this.#skip) this.#clock.jump(at);
      this.#drawSoon();
      if (!this.#skip) await this.#wait(Math.min(left, STATUS_MS));
    }
  }

  async #whilePaused(): Promise<void> {
    while (!this.#clock.running && !this.#left && !this.#skip) await this.#wait(60_000);
  }

  async #show(step: Step): Promise<void> {
    if (step.kind === "resize") this.#view.resize(step);
    if (step.kind === "untimed") {
      this.#untimedBytes += step.bytes;
      this.#note = `untimed: when these ${formatBytes(step.bytes)} came is not known`;
    }
    if (step.kind === "gap") {
      this.#view.breakOff(gapNote(step.gap));
      this.#note = gapText(step.gap);
      this.#noteStays = performance.now() + NOTE_MS;
    }
    if (step.kind === "output") {
      if (step.timed && performance.now() >= this.#noteStays) this.#note = "";
      for (let at = 0; at < step.bytes.length && !this.#left; at += SLICE) {
        this.#view.write(step.bytes.subarray(at, at + SLICE));
        // Handle keys and frames between two pieces of a flood.
        await new Promise(setImmediate);
        if (!step.timed) await this.#whilePaused();
      }
    }
    if (step.at >= this.#from) this.#drawSoon();
  }

  #pressed(keys: string): void {
    for (const [key] of keys.matchAll(KEY)) {
      if (key === " " && !this.#finished) this.#clock.toggle();
      else if (NEXT.has(key)) this.#skip = true;
      else if (key === "+" || key === "=") this.#clock.speed = Math.min(FASTEST, this.#clock.speed * 2);
      else if (key === "-" || key === "_") this.#clock.speed = Math.max(SLOWEST, this.#clock.speed / 2);
      else if (key === CTRL_Z) this.#screen.suspend();
      else if (key === "q" || key === CTRL_C) this.#left = true;
    }
    if (!this.#left) this.#draw();
    this.#wake();
  }

  #wait(ms: number): Promise<void> {
    if (this.#left) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
    });
  }

  #drawSoon(): void {
    const wait = this.#lastFrame + FRAME_MS - performance.now();
    if (wait <= 0) this.#draw();
    else this.#frame ??= setTimeout(() => this.#draw(), wait);
  }

  #draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    this.#lastFrame = performance.now();
    const room = this.#screen.size;
    if (this.#screen.ready) this.#screen.write(this.#view.draw(room, this.#status(room)));
    else if (!this.#left) this.#frame = setTimeout(() => this.#draw(), FRAME_MS);
  }

  /** Most important parts first: a narrow terminal cuts off the rest. */
  #status(room: { columns: number; rows: number }): string {
    const { columns, rows } = this.#view.size;
    const state = this.#finished ? "the end" : this.#clock.running ? "playing" : "paused";
    const time = `${timeText(Math.min(this.#clock.position, Math.max(this.#durationMs, this.#from)))} / ${timeText(this.#durationMs)}`;
    const parts = [
      `${this.#name}: ${state}`,
      `${time}${this.#clock.speed === 1 ? "" : ` at speed ${this.#clock.speed}`}`,
      ...(this.#note === "" ? [] : [this.#note]),
      ...(columns > room.columns || rows > room.rows - 1 ? [`${columns}x${rows} cut off`] : []),
    ].join("  ");
    const keys = this.#finished ? "q quit" : "space pause, n next, +/- speed, q quit";
    const hint = [keys, "q quit"].find((text) => parts.length + text.length + 2 < room.columns) ?? "";
    return `\x1b[7m${`${parts}  ${hint}`.trimEnd().slice(0, room.columns - 1)}\x1b[0m`;
  }
}

/** `0:07`, `12:30`, `1:02:03`. */
export function timeText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (n: number) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}:${two(seconds % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}
