/**
 * `times.idx`: when each byte of a recording arrived, and the size of the terminal. One line per sample:
 *
 *   `1794717879123 4096`          at this time (ms) the recording had 4096 bytes
 *   `1794717879123 4096 120x40`   … and the terminal has this size from here on
 *   `- 8192`                      the bytes up to 8192 arrived while nothing sampled: their times are unknown
 *
 *   `1794717879123 4096 ~-86400000`   the clock was set by this much before it: later times are on the new clock
 *
 * Read as a whole, times never go back or jump: they are on the clock of the first sample, as if it had never been set.
 *
 * The last line is also the saved offset: the recording beyond it has not been sampled yet. A torn last line (a crash or a full disk
 * in mid-write) is ignored, and cut off before the next one is written.
 *
 * A program with steady small output makes the index larger than the recording: beyond MOST bytes old samples are merged (thinned.ts).
 * Queries read the file once, a page at a time, and the next query continues from there.
 */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { isMissing, writeFileAtomic } from "@holdfast/platform";
import { type Sample, type Size, samplesIn, textOf } from "./sample.ts";
import { thinned } from "./thinned.ts";

/** Longer than any line. An index of days has millions of lines, and only its end is needed to continue. */
const TAIL = 4096;
const PAGE = 64 * 1024;

/** A few hours of steady output. Reading it at once must not block the daemon. */
const MOST = 1 << 20;

export class Times {
  readonly #path: string;
  #endsWhole = false;
  #bytes = 0;
  #thinAt = MOST;
  #read: Summary | undefined;

  constructor(directory: string) {
    this.#path = join(directory, "times.idx");
  }

  /** `at` is the current wall-clock time. */
  append(sample: Sample): void {
    const text = textOf(sample);
    if (!this.#endsWhole) this.#bytes = this.#cutTornLine();
    this.#endsWhole = false;
    appendFileSync(this.#path, text, { mode: 0o600 });
    this.#endsWhole = true;
    this.#bytes += text.length;
    if (this.#bytes > this.#thinAt) this.#thin();
  }

  /** Returns all samples, with times on the clock of the first one. */
  read(): Sample[] {
    const clock = new OneClock();
    return this.#samples().map((sample) => clock.place(sample));
  }

  #samples(): Sample[] {
    try {
      return samplesIn(readFileSync(this.#path, "latin1"));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** Returns the last sample with its original time. */
  last(): Sample | undefined {
    const { start, text } = this.#tail();
    const whole = start === 0 ? text : text.slice(text.indexOf("\n") + 1);
    return samplesIn(whole).at(-1) ?? this.#samples().at(-1);
  }

  /** Returns the offset of the last sample. */
  sampled(): number {
    return this.last()?.offset ?? 0;
  }

  /** Returns the offset of the first byte at or after `time`, by the current clock. Bytes of unknown time count as late as possible. */
  offsetAt(time: number): number {
    const { steps } = this.#summary().clock;
    const clock = new OneClock();
    let offset = 0;
    for (const { samples } of this.#pages(0)) {
      for (const sample of samples) {
        const { at } = clock.place(sample);
        if (at === null) continue;
        if (at >= time - steps) return offset;
        offset = sample.offset;
      }
    }
    return offset;
  }

  /** Returns the first time and the duration until the last, ignoring clock changes. */
  span(): { startedAt: number | null; durationMs: number } {
    const { startedAt, clock } = this.#summary();
    return { startedAt, durationMs: startedAt === null ? 0 : clock.latest - startedAt };
  }

  /** Returns one page of samples with original times, starting `after` bytes into the file: an index of days has millions of lines. */
  page(after: number): { samples: Sample[]; next: number; more: boolean } {
    const lead = after > 0 ? 1 : 0;
    const { text, size } = this.#piece(after - lead, PAGE + lead);
    // The page starts inside a line: the index is damaged, or was thinned since the previous page. A partial line could look valid.
    const skipped = lead === 0 || text.startsWith("\n") ? lead : text.indexOf("\n") + 1 || text.length;
    // A whole page without a newline is damage and is skipped; an unfinished last line is waited for.
    const end = text.indexOf("\n", lead) < 0 ? 0 : text.lastIndexOf("\n") + 1 - lead;
    const whole = end || (text.length === PAGE + lead ? PAGE : 0);
    return { samples: samplesIn(text.slice(skipped)), next: after + whole, more: whole > 0 && after + whole < size };
  }

  *#pages(from: number): Generator<{ samples: Sample[]; next: number }> {
    for (let after = from, more = true; more; ) {
      const page = this.page(after);
      yield page;
      ({ next: after, more } = page);
    }
  }

  /** Reads the file on from the last position. */
  #summary(): Summary {
    const file = statSync(this.#path, { throwIfNoEntry: false });
    const known = this.#read;
    const isSame = known && file && known.inode === file.ino && known.next <= file.size;
    const summary = isSame ? known : { clock: new OneClock(), startedAt: null, sizes: [], next: 0, inode: file?.ino };
    for (const { samples, next } of this.#pages(summary.next)) {
      for (const sample of samples) {
        const { at, offset, size } = summary.clock.place(sample);
        summary.startedAt ??= at;
        if (size) summary.sizes.push({ offset, ...size });
      }
      summary.next = next;
    }
    this.#read = summary;
    return summary;
  }

  sizes(): (Size & { offset: number })[] {
    return [...this.#summary().sizes];
  }

  /** Drops samples of bytes before `offset`, and keeps the terminal size at that offset. */
  forgetBefore(offset: number): void {
    const samples = this.#samples();
    const first = samples.findLastIndex((sample) => sample.offset <= offset);
    const begin = samples[first];
    if (!begin || first === 0) return;
    const size = samples.slice(0, first + 1).findLast((sample) => sample.size)?.size;
    this.#replace([size ? { ...begin, size } : begin, ...samples.slice(first + 1)]);
  }

  /** If thinning fails (a full disk, or nothing to drop), tries again only after much more data. */
  #thin(): void {
    this.#thinAt = this.#bytes + MOST / 2;
    this.#replace(thinned(this.#samples(), MOST / 2));
    this.#thinAt = Math.max(MOST, 2 * this.#bytes);
  }

  #replace(samples: readonly Sample[]): void {
    const text = samples.map(textOf).join("");
    writeFileAtomic(this.#path, text);
    this.#bytes = text.length;
    this.#endsWhole = true;
    this.#read = undefined;
  }

  /** Returns the remaining size. */
  #cutTornLine(): number {
    const { start, text, size } = this.#tail();
    if (text === "" || text.endsWith("\n")) return size;
    const end = text.lastIndexOf("\n");
    const whole = end < 0 && start > 0 ? readFileSync(this.#path, "latin1").lastIndexOf("\n") + 1 : start + end + 1;
    truncateSync(this.#path, whole);
    return whole;
  }

  #tail(): { start: number; text: string; size: number } {
    return this.#piece(-TAIL, TAIL);
  }

  /** Reads at most `length` bytes from `from`; a negative `from` counts from the end. */
  #piece(from: number, length: number): { start: number; text: string; size: number } {
    let file: number;
    try {
      file = openSync(this.#path, "r");
    } catch (error) {
      if (isMissing(error)) return { start: 0, text: "", size: 0 };
      throw error;
    }
    try {
      const { size } = fstatSync(file);
      const start = from < 0 ? Math.max(0, size + from) : from;
      const buffer = Buffer.alloc(length);
      return { start, text: buffer.toString("latin1", 0, readSync(file, buffer, 0, length, start)), size };
    } finally {
      closeSync(file);
    }
  }
}

interface Summary {
  readonly clock: OneClock;
  startedAt: number | null;
  readonly sizes: (Size & { offset: number })[];
  next: number;
  readonly inode: number | undefined;
}

/** A time that goes back is an unnoticed clock step. The real duration before it is unknown and counts as zero. */
class OneClock {
  steps = 0;
  latest = 0;

  place({ step = 0, ...sample }: Sample): Sample {
    this.steps += step;
    if (sample.at === null) return sample;
    this.steps += Math.min(0, sample.at - this.steps - this.latest);
    this.latest = sample.at - this.steps;
    return { ...sample, at: this.latest };
  }
}
