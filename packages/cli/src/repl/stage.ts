/**
 * When and what is drawn. Whoever changes something asks for a frame; there is one at most every FRAME_MS, and while something moves one for each
 * step of it. A terminal that is behind with what it was given gets the next frame when it has caught up, with all that came meanwhile.
 */
import { Foot, type FootView, type Output } from "./foot.ts";

/** Finer than anybody sees. */
const FRAME_MS = 16;
const STEP_MS = 100;

/** So much of what was written is kept for the screen to be drawn anew. */
const RECENT_LINES = 500;

export interface StageOptions {
  output: Output & { readonly ready: boolean };
  look(): FootView;
  /** Whether the next frame differs by itself. */
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

  /** Lines that are done. */
  print(lines: readonly string[]): void {
    this.#lines.push(...lines);
    this.change();
  }

  change(): void {
    if (this.#isClosed) return;
    // One that was due later for its own sake comes now.
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

  /** An empty screen, with what was written last. */
  redraw(): void {
    this.#foot.wipe();
    this.#lines.unshift(...this.#recent.slice(-this.#options.output.rows));
    this.#recent = [];
    this.change();
  }

  /** Makes way for something else on the terminal, until the next frame. */
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
