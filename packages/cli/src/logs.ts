/** `logs`: a recording from the daemon, byte for byte or as a person would have read it. */
import type { Context } from "./command.ts";
import { Patience } from "./patience.ts";
import { RecordingText } from "./render/recording-text.ts";
import { writeOut } from "./write-out.ts";

export interface LogOptions {
  ref: string;
  follow: boolean;
  raw: boolean;
  tail: number | undefined;
  since: number | undefined;
  run: number | undefined;
}

/** The last lines of a large recording are found in its end; rendering 64 MB for twenty lines takes seconds. */
const TAIL_BYTES_PER_LINE = 8 * 1024;
const TAIL_BYTES_LEAST = 2 * 1024 * 1024;

/** A line that stays unchanged this long is worth showing before it is finished. */
const AT_REST_MS = 300;

export async function printLogs(context: Context, options: LogOptions): Promise<void> {
  const { ref, run, since } = options;
  const recording = await context.client.call("getRecording", { params: { ref }, query: { run, since } });
  const from = Math.max(
    recording.from,
    options.tail === undefined ? 0 : recording.bytes - Math.max(TAIL_BYTES_LEAST, options.tail * TAIL_BYTES_PER_LINE),
  );
  // What a follower shows at once is what is there now; the tail is taken of that.
  const source = bytesOf(context, { ...options, run: recording.run, from, until: recording.bytes });
  const lines = options.raw ? new RawLines() : new RenderedLines(recording.sizes, from);
  const printer = new Printer({ lines, tail: options.tail, until: recording.bytes, from, write: context.json ? writeJson : writeOut });
  await printer.print(source, options.follow);
}

/**
 * Every byte once, in order; a daemon that dies or is replaced is found again, and read on from where we were. A stream that was cut
 * off looks like one that has ended: without `follow` it is whole when it has reached `until`.
 */
export async function* bytesOf(
  context: Context,
  options: { ref: string; run: number | undefined; from: number; until?: number; follow: boolean; signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let { from } = options;
  const patience = new Patience();
  while (!options.signal?.aborted) {
    const before = from;
    try {
      const { ref, run, follow } = options;
      for await (const chunk of await context.client.bytes({ params: { ref }, query: { run, from, follow } }, options.signal)) {
        from += chunk.length;
        patience.renew();
        yield chunk;
      }
      if (options.signal?.aborted || (!follow && from >= (options.until ?? 0))) return;
      const { bytes, ended } = await context.client.call("getRecording", { params: { ref: options.ref }, query: { run: options.run } });
      if (from >= bytes && (ended || !follow)) return;
      patience.renew();
      // A run that has no watch yet, or cannot have one: it is looked at now and then.
      if (from === before) await patience.pause();
    } catch (error) {
      await patience.bear(error);
    }
  }
}

/** Bytes in, finished pieces of text out; both kinds keep what is not finished. */
interface Lines {
  write(bytes: Uint8Array): Promise<void>;
  /** What cannot change any more; when following, what stands still is given too. */
  ready(options: { follow: boolean; atRest: boolean }): (string | Uint8Array)[];
  finish(): Promise<(string | Uint8Array)[]>;
}

class RawLines implements Lines {
  #rest = Buffer.alloc(0);

  async write(bytes: Uint8Array): Promise<void> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
  }

  ready({ follow }: { follow: boolean }): Uint8Array[] {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = this.#rest.indexOf(10); end >= 0; end = this.#rest.indexOf(10, start)) {
      lines.push(this.#rest.subarray(start, end + 1));
      start = end + 1;
    }
    this.#rest = this.#rest.subarray(start);
    return follow ? [...lines, ...this.#take()] : lines;
  }

  async finish(): Promise<Uint8Array[]> {
    return this.#take();
  }

  #take(): Uint8Array[] {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest.length > 0 ? [rest] : [];
  }
}

class RenderedLines implements Lines {
  readonly #text: RecordingText;
  readonly #sizes: { offset: number; columns: number; rows: number }[];
  #offset: number;

  constructor(sizes: readonly { offset: number; columns: number; rows: number }[], from: number) {
    const before = sizes.filter(({ offset }) => offset <= from);
    this.#text = new RecordingText(before.at(-1) ?? { columns: 120, rows: 40 });
    this.#sizes = sizes.filter(({ offset }) => offset > from);
    this.#offset = from;
  }

  /** The terminal's size changes at its byte. */
  async write(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    for (let next = this.#sizes[0]; next && next.offset < this.#offset + rest.length; next = this.#sizes[0]) {
      const head = rest.subarray(0, next.offset - this.#offset);
      await this.#text.write(head);
      this.#text.resize(next.columns, next.rows);
      this.#offset += head.length;
      rest = rest.subarray(head.length);
      this.#sizes.shift();
    }
    await this.#text.write(rest);
    this.#offset += rest.length;
  }

  ready({ follow, atRest }: { follow: boolean; atRest: boolean }): string[] {
    return (follow ? this.#text.settled({ atRest }) : this.#text.scrolled()).map((line) => `${line}\n`);
  }

  async finish(): Promise<string[]> {
    return (await this.#text.finish()).map((line) => `${line}\n`);
  }
}

class Printer {
  readonly #lines: Lines;
  readonly #tail: number | undefined;
  readonly #until: number;
  readonly #write: (piece: string | Uint8Array) => Promise<void>;
  #offset: number;
  #held: (string | Uint8Array)[] | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: {
    lines: Lines;
    tail: number | undefined;
    until: number;
    from: number;
    write(piece: string | Uint8Array): Promise<void>;
  }) {
    this.#lines = options.lines;
    this.#tail = options.tail;
    this.#until = options.until;
    this.#write = options.write;
    this.#offset = options.from;
    this.#held = options.tail === undefined ? undefined : [];
  }

  async print(source: AsyncIterable<Uint8Array>, follow: boolean): Promise<void> {
    if (follow && this.#offset >= this.#until) await this.#release();
    let timer: NodeJS.Timeout | undefined;
    for await (const chunk of source) {
      clearTimeout(timer);
      await this.#next(async () => {
        await this.#lines.write(chunk);
        this.#offset += chunk.length;
        await this.#put(this.#lines.ready({ follow, atRest: false }));
        if (follow && this.#offset >= this.#until) await this.#release();
      });
      if (follow) timer = setTimeout(() => void this.#next(async () => this.#put(this.#lines.ready({ follow, atRest: true }))), AT_REST_MS);
    }
    clearTimeout(timer);
    await this.#next(async () => {
      await this.#put(await this.#lines.finish());
      await this.#release();
    });
  }

  /** The timer's look at the screen and the next chunk must not overlap. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  async #put(pieces: (string | Uint8Array)[]): Promise<void> {
    if (!this.#held) {
      for (const piece of pieces) await this.#write(piece);
      return;
    }
    this.#held.push(...pieces);
    const tail = this.#tail ?? 0;
    if (this.#held.length > tail) this.#held = tail === 0 ? [] : this.#held.slice(-tail);
  }

  async #release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    for (const piece of held ?? []) await this.#write(piece);
  }
}

/** A line of text as `{text}`; bytes, which JSON cannot carry, as `{base64}`. */
function writeJson(piece: string | Uint8Array): Promise<void> {
  const value = typeof piece === "string" ? { text: piece.replace(/\n$/, "") } : { base64: Buffer.from(piece).toString("base64") };
  return writeOut(`${JSON.stringify(value)}\n`);
}
