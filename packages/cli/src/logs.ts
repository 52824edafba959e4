/** `logs`: a recording from the daemon, byte for byte or as a person would have read it. */
import type { Context } from "./command.ts";
import { bytesOf, type Deleted } from "./recording/bytes.ts";
import { deletedNote } from "./recording/deleted-note.ts";
import { RenderedLines } from "./render/rendered-lines.ts";
import { tellViewed } from "./viewed.ts";
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

/** A follower goes on with the next run, unless it asked for one. */
export async function printLogs(context: Context, options: LogOptions): Promise<void> {
  let { session, run } = await printRun(context, options);
  while (options.follow && options.run === undefined) {
    const { isOver, restartNote, untilSession } = await import("./next-run.ts");
    let told = false;
    const tell = (note: string) => {
      if (!told) tellNext(context, { note, run: run + 1, raw: options.raw });
      told = true;
    };
    const next = await untilSession(context, {
      id: session,
      until: (now) => now.runs > run || isOver(now),
      onChange: (now) => now.restartAt !== null && tell(restartNote(now)),
    });
    if (!next || next.runs === run) return;
    tell(`… run ${run} has ended; this is run ${run + 1}`);
    ({ session, run } = await printRun(context, { ...options, ref: session, run: run + 1, tail: undefined, since: undefined }));
  }
}

/** Which it was. */
async function printRun(context: Context, options: LogOptions): Promise<{ session: string; run: number }> {
  const { follow, raw, tail, since } = options;
  const recording = await context.client.call("getRecording", { params: { ref: options.ref }, query: { run: options.run, since } });
  // By its id: somebody may rename it while we follow.
  const which = { ref: recording.session, run: recording.run, until: recording.bytes };
  const write = context.json ? writeJson : writePlain;
  let reach = tail === undefined ? recording.bytes : Math.max(TAIL_BYTES_LEAST, tail * TAIL_BYTES_PER_LINE);
  const first = Math.max(recording.from, recording.begins);
  const missing = { from: recording.from, to: first, limitBytes: recording.limitBytes };
  for (;;) {
    const from = Math.max(first, recording.bytes - reach);
    const isAll = from === first;
    const torn = isAll && first > recording.from;
    using lines = raw ? new RawLines(tail !== undefined) : new RenderedText(new RenderedLines({ sizes: recording.sizes, from, torn }));
    const note = (deleted: Deleted) => () => tellDeleted(context, { deleted, raw });
    // What a follower shows at once is what is there now; the tail is taken of that.
    const before = torn ? note(missing) : undefined;
    const printer = new Printer({ lines, tail, until: recording.bytes, from, isAll, write, before });
    const onDeleted = (deleted: Deleted) => printer.skip(deleted.to, note(deleted));
    if (await printer.print(bytesOf(context, { ...which, from, follow, onDeleted }), follow)) break;
    // Lines longer than thought.
    reach *= 4;
  }
  // What has ended meanwhile was followed to its end.
  if (recording.ended || follow) await tellViewed(context, which.ref);
  return { session: recording.session, run: recording.run };
}

/** Where the next run will be: its output follows. */
function tellNext(context: Context, { note, run, raw }: { note: string; run: number; raw: boolean }): void {
  if (context.json) process.stdout.write(`${JSON.stringify({ next: { run } })}\n`);
  else (raw ? process.stderr : process.stdout).write(`${note}\n`);
}

/** In a text it stands where the output would have been; between raw bytes it would be taken for some of them. */
async function tellDeleted(context: Context, { deleted, raw }: { deleted: Deleted; raw: boolean }): Promise<void> {
  const { from, to, limitBytes } = deleted;
  if (context.json) await writeOut(`${JSON.stringify({ deleted: { bytes: to - from, limitBytes } })}\n`);
  else if (raw) process.stderr.write(`${deletedNote(deleted)}\n`);
  else await writeOut(`${deletedNote(deleted)}\n`);
}

/** Bytes in, finished pieces of text out; both kinds keep what is not finished. */
interface Lines extends Disposable {
  write(bytes: Uint8Array): void;
  /** What cannot change any more; when following, what stands still is given too. */
  ready(options: { follow: boolean; atRest: boolean }): (string | Uint8Array)[];
  finish(): (string | Uint8Array)[];
  /** What comes next is at this offset. */
  skip(to: number): void;
}

/** Line by line only where lines are counted: a line may be as long as the recording. */
class RawLines implements Lines {
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

  [Symbol.dispose](): void {}
}

class RenderedText implements Lines {
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

  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]();
  }
}

class Printer {
  readonly #lines: Lines;
  readonly #tail: number | undefined;
  readonly #until: number;
  readonly #isAll: boolean;
  readonly #write: (pieces: readonly (string | Uint8Array)[]) => Promise<void>;
  readonly #before: (() => Promise<void>) | undefined;
  #offset: number;
  #held: (string | Uint8Array)[] | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: {
    lines: Lines;
    tail: number | undefined;
    until: number;
    from: number;
    isAll: boolean;
    write(pieces: readonly (string | Uint8Array)[]): Promise<void>;
    /** Comes first, where everything that is kept is shown. */
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

  /** False, with nothing printed, when the tail must begin earlier than `from`. */
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
        // What is counted is counted in whole lines.
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

  /** Output up to `to` is gone; `note` says so, where it would have been. */
  skip(to: number, note: () => Promise<void>): Promise<void> {
    return this.#next(async () => {
      this.#lines.skip(to);
      await this.#put(this.#lines.ready({ follow: this.#held === undefined, atRest: true }));
      this.#offset = to;
      await note();
    });
  }

  /** The timer's look at the screen and the next chunk must not overlap. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  /** One line more than wanted is held: the first that was read may lack its beginning. */
  async #put(pieces: (string | Uint8Array)[]): Promise<void> {
    if (!this.#held) {
      await this.#write(pieces);
      return;
    }
    for (const piece of pieces) this.#held.push(piece);
    const most = (this.#tail ?? 0) + 1;
    if (this.#held.length > most) this.#held = this.#held.slice(-most);
  }

  async #release(): Promise<boolean> {
    const held = this.#held;
    const tail = this.#tail ?? 0;
    if (!held) return true;
    if (tail > 0 && held.length <= tail && !this.#isAll) return false;
    this.#held = undefined;
    if (tail > 0 && held.length <= tail) await this.#before?.();
    await this.#write(tail === 0 ? [] : held.slice(-tail));
    return true;
  }
}

/** Text in one piece: a write per line would cost more than rendering it. */
async function writePlain(pieces: readonly (string | Uint8Array)[]): Promise<void> {
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") text += piece;
    else await writeOut(piece);
  }
  await writeOut(text);
}

/** A line of text as `{text}`; bytes, which JSON cannot carry, as `{base64}`. */
async function writeJson(pieces: readonly (string | Uint8Array)[]): Promise<void> {
  for (const piece of pieces) {
    const value = typeof piece === "string" ? { text: piece.replace(/\n$/, "") } : { base64: Buffer.from(piece).toString("base64") };
    await writeOut(`${JSON.stringify(value)}\n`);
  }
}
