import type { RenderedLines } from "../render/rendered-lines.ts";

/** Bytes in, finished pieces of text out. Both implementations hold unfinished output back. */
export interface Lines extends Disposable {
  write(bytes: Uint8Array): void;
  /** Output that cannot change any more. With `follow`, also lines that are at rest. */
  ready(options: { follow: boolean; atRest: boolean }): (string | Uint8Array)[];
  finish(): (string | Uint8Array)[];
  /** The next bytes are at this offset. */
  skip(to: number): void;
  /** Everything up to here, finished or not: the following output does not continue it. */
  breakOff(): (string | Uint8Array)[];
}

/** Splits into lines only if lines are counted: a line may be as long as the recording. */
export class RawLines implements Lines {
  readonly #counted: boolean;
  #rest: Uint8Array[] = [];

  constructor(counted: boolean) {
    this.#counted = counted;
  }

  write(bytes: Uint8Array): void {
    this.#rest.push(bytes);
  }

  ready({ follow }: { follow: boolean }): Uint8Array[] {
    const last = this.#rest.at(-1);
    if (!this.#counted) return this.finish();
    if (!last?.includes(10)) return follow ? this.finish() : [];
    const bytes = Buffer.concat(this.#rest);
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      lines.push(bytes.subarray(start, end + 1));
      start = end + 1;
    }
    this.#rest = start < bytes.length ? [bytes.subarray(start)] : [];
    return follow ? [...lines, ...this.finish()] : lines;
  }

  finish(): Uint8Array[] {
    const rest = this.#rest;
    this.#rest = [];
    return rest.length > 0 ? [Buffer.concat(rest)] : [];
  }

  skip(): void {}

  breakOff(): Uint8Array[] {
    return this.ready({ follow: true });
  }

  [Symbol.dispose](): void {}
}

export class RenderedText implements Lines {
  readonly #lines: RenderedLines;

  constructor(lines: RenderedLines) {
    this.#lines = lines;
  }

  write(bytes: Uint8Array): void {
    this.#lines.write(bytes);
  }

  ready(options: { follow: boolean; atRest: boolean }): string[] {
    return this.#lines.ready(options).map((line) => `${line}\n`);
  }

  finish(): string[] {
    return this.#lines.finish().map((line) => `${line}\n`);
  }

  skip(to: number): void {
    this.#lines.skip(to);
  }

  breakOff(): string[] {
    return this.#lines.breakOff().map((line) => `${line}\n`);
  }

  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]();
  }
}
