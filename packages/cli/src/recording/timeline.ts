/**
 * A recording with its times, as steps in order. Times are milliseconds from its start, or from where it now begins, and never go back: a
 * changed clock causes neither a pause nor a jump. Samples are at most a quarter of a second apart while bytes arrive; all bytes between two
 * samples have the time of the second.
 *
 * Output without samples is marked: `untimed` precedes it, at the last known time, and `timed` follows once times are known again. `gap` marks
 * output that was never recorded. Memory stays flat: bytes come in pieces, samples in pages.
 */
import type { RecordingGap, TimeSample } from "@holdfast/contract/recording/endpoints";
import type { Context } from "../command.ts";
import { bytesOf, type Deleted } from "./bytes.ts";

export type Step =
  | { kind: "output"; at: number; bytes: Uint8Array; timed: boolean }
  | { kind: "resize"; at: number; columns: number; rows: number }
  | { kind: "untimed"; at: number; bytes: number }
  | { kind: "timed"; at: number }
  | { kind: "gap"; at: number; gap: RecordingGap };

export interface Which {
  /** The session's id. */
  session: string;
  run: number;
  /** First byte of the recording that still exists. */
  begins: number;
  /** Bytes to read; later output is left out. */
  bytes: number;
  ended: boolean;
  gaps: readonly RecordingGap[];
  /** Called with the number of bytes that were deleted before they were read. */
  onDeleted?(bytes: number): void;
}

export async function* timeline(context: Context, which: Which): AsyncGenerator<Step> {
  const { session: ref, run, begins, bytes: until, gaps } = which;
  const onDeleted = ({ from, to }: Deleted) => {
    bytes.skip(to - from);
    which.onDeleted?.(to - from);
  };
  const onGap = (gap: RecordingGap) => bytes.note(gap);
  await using bytes = new Pieces(bytesOf(context, { ref, run, from: begins, until, follow: false, gaps, onDeleted, onGap }));
  let at = 0;
  let clock: number | undefined;
  let untimed = false;
  let offset = begins;
  for await (const sample of known(samplesOf(context, which))) {
    const end = Math.min(sample.offset, until);
    if (sample.at === null) {
      if (end <= offset) continue;
      untimed = true;
      yield { kind: "untimed", at, bytes: end - offset };
    } else {
      at += clock === undefined ? 0 : Math.max(0, sample.at - clock - (sample.stepMs ?? 0));
      clock = sample.at;
      if (untimed) yield { kind: "timed", at };
      untimed = false;
    }
    for await (const piece of bytes.take(end - offset)) yield stepOf(piece, { at, timed: !untimed });
    offset = Math.max(offset, end);
    if (sample.columns !== undefined && sample.rows !== undefined && sample.offset <= until)
      yield { kind: "resize", at, columns: sample.columns, rows: sample.rows };
  }
  if (offset < until) {
    // In a running session, these bytes arrived just now, after the last sample.
    const timed = !which.ended && clock !== undefined;
    if (!timed) yield { kind: "untimed", at, bytes: until - offset };
    for await (const piece of bytes.take(until - offset)) yield stepOf(piece, { at, timed });
  }
  for await (const gap of bytes.rest()) yield { kind: "gap", at, gap };
}

function stepOf(piece: Uint8Array | RecordingGap, { at, timed }: { at: number; timed: boolean }): Step {
  return piece instanceof Uint8Array ? { kind: "output", at, bytes: piece, timed } : { kind: "gap", at, gap: piece };
}

/** Bytes between two times this close count as sampled. Every run begins with such bytes, before its watcher starts. */
const CLOSE_MS = 1000;

async function* known(samples: AsyncIterable<TimeSample>): AsyncGenerator<TimeSample> {
  let last: number | undefined;
  let unknown: TimeSample | undefined;
  for await (const sample of samples) {
    if (unknown) {
      const apart = sample.at === null || last === undefined ? Number.POSITIVE_INFINITY : sample.at - last - (sample.stepMs ?? 0);
      yield apart >= 0 && apart <= CLOSE_MS ? { ...unknown, at: sample.at } : unknown;
    }
    unknown = sample.at === null ? sample : undefined;
    if (sample.at === null) continue;
    last = sample.at;
    yield sample;
  }
  if (unknown) yield unknown;
}

async function* samplesOf(context: Context, which: Which): AsyncGenerator<TimeSample> {
  for (let after = 0, more = true; more; ) {
    const page = await context.client.call("listTimes", { params: { ref: which.session }, query: { run: which.run, after } });
    yield* page.samples;
    ({ next: after, more } = page);
  }
}

/** A byte stream read in pieces of a given size. */
class Pieces implements AsyncDisposable {
  readonly #source: AsyncGenerator<Uint8Array>;
  #left: Uint8Array = new Uint8Array();
  #skipped = 0;
  #gaps: RecordingGap[] = [];

  constructor(source: AsyncGenerator<Uint8Array>) {
    this.#source = source;
  }

  /** Counts deleted bytes before the next ones, without yielding them. */
  skip(count: number): void {
    this.#skipped += count;
  }

  /** Records a gap before the next bytes. */
  note(gap: RecordingGap): void {
    this.#gaps.push(gap);
  }

  async *take(count: number): AsyncGenerator<Uint8Array | RecordingGap> {
    for (let wanted = count; wanted > 0; ) {
      if (this.#left.length === 0) {
        const { done, value } = await this.#source.next();
        if (done) return;
        this.#left = value;
      }
      yield* this.#gaps.splice(0);
      const gone = Math.min(wanted, this.#skipped);
      this.#skipped -= gone;
      wanted -= gone;
      if (wanted === 0) return;
      const piece = this.#left.subarray(0, wanted);
      this.#left = this.#left.subarray(piece.length);
      wanted -= piece.length;
      yield piece;
    }
  }

  /** Gaps at the end, which no byte follows. */
  async *rest(): AsyncGenerator<RecordingGap> {
    await this.#source.next();
    yield* this.#gaps.splice(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#source.return(undefined);
  }
}
