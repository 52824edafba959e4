import type { Lines } from "./lines.ts";
import { isNote, type Note, type Piece } from "./piece.ts";

/** A line that stays unchanged this long is shown before it is finished. */
const AT_REST_MS = 300;

/** Prints output, or its last lines; gaps and deletions are marked in place. */
export class Printer {
  readonly #lines: Lines;
  readonly #tail: number | undefined;
  readonly #until: number;
  readonly #isAll: boolean;
  readonly #write: (pieces: readonly Piece[]) => Promise<void>;
  readonly #before: (() => Promise<void>) | undefined;
  #offset: number;
  #held: Piece[] | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: {
    lines: Lines;
    tail: number | undefined;
    until: number;
    from: number;
    isAll: boolean;
    write(pieces: readonly Piece[]): Promise<void>;
    /** Printed first, if everything kept is shown. */
    before: (() => Promise<void>) | undefined;
  }) {
    this.#lines = options.lines;
    this.#tail = options.tail;
    this.#until = options.until;
    this.#isAll = options.isAll;
    this.#write = options.write;
    this.#before = options.before;
    this.#offset = options.from;
    this.#held = options.tail === undefined ? undefined : [];
  }

  /** False, with nothing printed, if the tail must begin before `from`. */
  async print(source: AsyncIterable<Uint8Array>, follow: boolean): Promise<boolean> {
    if (!this.#held) await this.#before?.();
    if (follow && this.#offset >= this.#until) await this.#release();
    let timer: NodeJS.Timeout | undefined;
    let enough = true;
    for await (const chunk of source) {
      clearTimeout(timer);
      await this.#next(async () => {
        this.#lines.write(chunk);
        this.#offset += chunk.length;
        const release = follow && this.#offset >= this.#until;
        // Only whole lines are counted.
        await this.#put(this.#lines.ready({ follow: release || (follow && this.#held === undefined), atRest: false }));
        if (release) enough = await this.#release();
      });
      if (!enough) return false;
      if (follow) timer = setTimeout(() => void this.#next(async () => this.#put(this.#lines.ready({ follow, atRest: true }))), AT_REST_MS);
    }
    clearTimeout(timer);
    await this.#next(async () => {
      await this.#put(this.#lines.finish());
      enough = await this.#release();
    });
    return enough;
  }

  /** Skips deleted output up to `to`; `note` marks the place. */
  skip(to: number, note: () => Promise<void>): Promise<void> {
    return this.#next(async () => {
      this.#lines.skip(to);
      await this.#put(this.#lines.ready({ follow: this.#held === undefined, atRest: true }));
      this.#offset = to;
      await note();
    });
  }

  /** Marks output that was never recorded. */
  breakOff(note: Note): Promise<void> {
    return this.#next(async () => this.#put([...this.#lines.breakOff(), note]));
  }

  /** Serializes the rest timer and the next chunk. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  /** Holds one line more than wanted: the first one may lack its beginning. */
  async #put(pieces: Piece[]): Promise<void> {
    if (!this.#held) {
      await this.#write(pieces);
      return;
    }
    for (const piece of pieces) this.#held.push(piece);
    this.#held = lastLines(this.#held, (this.#tail ?? 0) + 1);
  }

  async #release(): Promise<boolean> {
    const held = this.#held;
    const tail = this.#tail ?? 0;
    if (!held) return true;
    const isShort = tail > 0 && linesIn(held) <= tail;
    if (isShort && !this.#isAll) return false;
    this.#held = undefined;
    if (isShort) await this.#before?.();
    await this.#write(tail === 0 ? [] : isShort ? held : lastLines(held, tail));
    return true;
  }
}

function linesIn(pieces: readonly Piece[]): number {
  return pieces.filter((piece) => !isNote(piece)).length;
}

/** The last `count` lines; notes do not count as lines. */
function lastLines(pieces: Piece[], count: number): Piece[] {
  let from = pieces.length;
  for (let lines = 0; from > 0; from--) if (!isNote(pieces[from - 1]) && ++lines > count) break;
  // A leading note is about lines that were dropped.
  while (from > 0 && isNote(pieces[from])) from++;
  return pieces.slice(from);
}
