import { RecordingText, type RowReader } from "./recording-text.ts";

export interface SizeFrom {
  /** From this byte on. */
  offset: number;
  columns: number;
  rows: number;
}

const UNKNOWN_SIZE = { columns: 120, rows: 40 };

/** The lines of a recording, or of its end from a byte on; the terminal's size changes at its byte. */
export class RenderedLines implements Disposable {
  readonly #text: RecordingText;
  readonly #sizes: SizeFrom[];
  #offset: number;

  constructor(options: { sizes: readonly SizeFrom[]; from: number; row?: RowReader }) {
    const { sizes, from } = options;
    const first = sizes.filter(({ offset }) => offset <= from).at(-1) ?? UNKNOWN_SIZE;
    this.#text = new RecordingText(first, options.row);
    this.#sizes = sizes.filter(({ offset }) => offset > from);
    this.#offset = from;
  }

  write(bytes: Uint8Array): void {
    let rest = bytes;
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

  /** What cannot change any more; when following, what stands still is given too. */
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
