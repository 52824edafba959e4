/**
 * Decides when and what to draw. Every change asks for a frame. There is at most one frame per FRAME_MS, and one per step while something moves.
 * A terminal that lags gets the next frame once it has caught up, with everything that came meanwhile.
 */
import { Foot, type FootView, type Output } from "./foot.ts";

/** Shorter than a person can see. */
const FRAME_MS = 16;
const STEP_MS = 100;

/** Lines kept to redraw the screen. */
const RECENT_LINES = 500;

export interface StageOptions {
  output: Output & { readonly ready: boolean };
  look(): FootView;
  /** True if the next frame differs without a change. */
  moves(): boolean;
}

export class Stage implements Disposable {
  readonly #options: StageOptions;
  readonly #foot: Foot;
  #lines: string[] = [];
  #recent: string[] = [];
  #frame: NodeJS.Timeout | undefined;
  #last = 0;
  #isClosed = false;

  constructor(options: StageOptions) {
    this.#options = options;
    this.#foot = new Foot(options.output);
  }

  /** Prints finished lines. */
  print(lines: readonly string[]): void {
    this.#lines.push(...lines);
    this.change();
  }

  change(): void {
    if (this.#isClosed) return;
    // Replaces an animation frame that is due later.
    clearTimeout(this.#frame);
    this.#frame = setTimeout(() => this.draw(), Math.max(0, this.#last + FRAME_MS - performance.now()));
  }

  draw(): void {
    clearTimeout(this.#frame);
    if (this.#isClosed) return;
    if (!this.#options.output.ready) {
      this.#frame = setTimeout(() => this.draw(), FRAME_MS * 2);
      return;
    }
    this.#last = performance.now();
    const lines = this.#lines;
    this.#lines = [];
    this.#recent.push(...lines);
    if (this.#recent.length > RECENT_LINES * 2) this.#recent = this.#recent.slice(-RECENT_LINES);
    this.#foot.draw(lines, this.#options.look());
    if (this.#options.moves()) this.#frame = setTimeout(() => this.draw(), STEP_MS);
  }

  /** Clears the screen and prints the recent lines again. */
  redraw(): void {
    this.#foot.wipe();
    this.#lines.unshift(...this.#recent.slice(-this.#options.output.rows));
    this.#recent = [];
    this.change();
  }

  /** Clears the rows for other output, until the next frame. */
  clear(): void {
    this.#foot.clear();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.draw();
    clearTimeout(this.#frame);
    this.#isClosed = true;
    this.#foot.clear();
  }
}
