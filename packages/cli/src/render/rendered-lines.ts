import { RecordingText, type RowReader } from "./recording-text.ts";

export interface SizeFrom {
  /** First byte with this size. */
  offset: number;
  columns: number;
  rows: number;
}

/** Longest remainder to drop of a line or escape sequence whose beginning was deleted. */
const TORN_LINE = 4096;

const UNKNOWN_SIZE = { columns: 120, rows: 40 };

/** The lines of a recording, or of its end from a given byte. The terminal is resized at the recorded bytes. */
export class RenderedLines implements Disposable {
  readonly #text: RecordingText;
  readonly #sizes: SizeFrom[];
  #offset: number;
  /** Remaining bytes of a torn line that may be dropped. */
  #torn: number;

  /** `torn`: output before `from` was deleted, so the first line may be incomplete. */
  constructor(options: { sizes: readonly SizeFrom[]; from: number; row?: RowReader; torn?: boolean }) {
    const { sizes, from } = options;
    const first = sizes.filter(({ offset }) => offset <= from).at(-1) ?? UNKNOWN_SIZE;
    this.#text = new RecordingText(first, options.row);
    this.#sizes = sizes.filter(({ offset }) => offset > from);
    this.#offset = from;
    this.#torn = options.torn ? TORN_LINE : 0;
  }

  write(bytes: Uint8Array): void {
    let rest = this.#torn > 0 ? this.#afterTorn(bytes) : bytes;
    this.#offset += bytes.length - rest.length;
    for (let next = this.#sizes[0]; next && next.offset < this.#offset + rest.length; next = this.#sizes[0]) {
      const head = rest.subarray(0, next.offset - this.#offset);
      this.#text.write(head);
      this.#text.resize(next.columns, next.rows);
      this.#offset += head.length;
      rest = rest.subarray(head.length);
      this.#sizes.shift();
    }
    this.#text.write(rest);
    this.#offset += rest.length;
  }

  /** Drops the rest of a torn line. A long one is shown after all: a program that draws may never end a line. */
  #afterTorn(bytes: Uint8Array): Uint8Array {
    const looked = bytes.subarray(0, this.#torn);
    const end = looked.indexOf(10);
    this.#torn = end < 0 ? this.#torn - looked.length : 0;
    return bytes.subarray(end < 0 ? looked.length : end + 1);
  }

  /** Continues at this offset, on a new line and in the terminal's size there. */
  skip(to: number): void {
    this.#text.breakOff();
    const passed = this.#sizes.filter(({ offset }) => offset <= to);
    const size = passed.at(-1);
    if (size) this.#text.resize(size.columns, size.rows);
    this.#sizes.splice(0, passed.length);
    this.#offset = to;
    this.#torn = TORN_LINE;
  }

  /** Output was never recorded here. Returns everything before this point, so that it precedes everything after it. */
  breakOff(): string[] {
    this.#text.breakOff();
    return this.#text.scrolled();
  }

  /** Lines that cannot change any more. With `follow`, also lines that are at rest. */
  ready({ follow, atRest }: { follow: boolean; atRest: boolean }): string[] {
    return follow ? this.#text.settled({ atRest }) : this.#text.scrolled();
  }

  finish(): string[] {
    return this.#text.finish();
  }

  [Symbol.dispose](): void {
    this.#text[Symbol.dispose]();
  }
}
