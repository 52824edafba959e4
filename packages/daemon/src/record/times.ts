/**
 * `times.idx`: when which byte of a recording came, and how large the terminal was. One line per sample:
 *
 *   `1794717879123 4096`          at this time (ms) the recording had 4096 bytes
 *   `1794717879123 4096 120x40`   … and the terminal has this size from here on
 *   `- 8192`                      the bytes up to 8192 came while nobody sampled: their times are not known
 *
 *   `1794717879123 4096 ~-86400000`   before it the clock was set, by this much: from here on times are on the new clock
 *
 * Read as a whole, times are one line that never goes back and has no jump: the clock of the first sample, as if nobody had set it.
 *
 * The last line is also the remembered offset: what the recording has beyond it has not been sampled yet. A torn last line
 * (a crash or a full disk in mid-write) is passed over, and cut off before the next one is written.
 *
 * A program that says a little all the time makes more index than recording: beyond MOST bytes old samples are merged (thinned.ts). Answers
 * come from one pass over the file, a page at a time, which the next answer goes on from.
 */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { isMissing, writeFileAtomic } from "@holdfast/platform";
import { type Sample, type Size, samplesIn, textOf } from "./sample.ts";
import { thinned } from "./thinned.ts";

/** More than the longest line; an index of days has millions of lines, and only its end says where to go on. */
const TAIL = 4096;
const PAGE = 64 * 1024;

/** A few hours of steady output; read at once it must not hold the daemon up. */
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

  /** `at` is the time of day as it is now. */
  append(sample: Sample): void {
    const text = textOf(sample);
    if (!this.#endsWhole) this.#bytes = this.#cutTornLine();
    this.#endsWhole = false;
    appendFileSync(this.#path, text, { mode: 0o600 });
    this.#endsWhole = true;
    this.#bytes += text.length;
    if (this.#bytes > this.#thinAt) this.#thin();
  }

  /** With times on the clock of the first. */
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

  /** The last sample, with its time as it was taken. */
  last(): Sample | undefined {
    const { start, text } = this.#tail();
    const whole = start === 0 ? text : text.slice(text.indexOf("\n") + 1);
    return samplesIn(whole).at(-1) ?? this.#samples().at(-1);
  }

  /** The offset up to which samples were taken. */
  sampled(): number {
    return this.last()?.offset ?? 0;
  }

  /** Where the bytes that came at `time` (of the clock as it is now) or later begin. Bytes of unknown time count as late as they may have come. */
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

  /** The first time there is, and how long it is from there to the last, as if nobody had set the clock. */
  span(): { startedAt: number | null; durationMs: number } {
    const { startedAt, clock } = this.#summary();
    return { startedAt, durationMs: startedAt === null ? 0 : clock.latest - startedAt };
  }

  /** The samples of one page as they were taken, which begins `after` so many bytes of the file: an index of days has millions of lines. */
  page(after: number): { samples: Sample[]; next: number; more: boolean } {
    const lead = after > 0 ? 1 : 0;
    const { text, size } = this.#piece(after - lead, PAGE + lead);
    // In the middle of a line: damage, or the index was thinned since the page before. The rest of a line could be taken for another.
    const skipped = lead === 0 || text.startsWith("\n") ? lead : text.indexOf("\n") + 1 || text.length;
    // A whole page without a line's end is damage: it is passed over, where an unfinished last line is waited for.
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

  /** What the file says by now, read on from where it was read before. */
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

  /** What is told of bytes before `offset` goes with them; the size that the terminal had there stays. */
  forgetBefore(offset: number): void {
    const samples = this.#samples();
    const first = samples.findLastIndex((sample) => sample.offset <= offset);
    const begin = samples[first];
    if (!begin || first === 0) return;
    const size = samples.slice(0, first + 1).findLast((sample) => sample.size)?.size;
    this.#replace([size ? { ...begin, size } : begin, ...samples.slice(first + 1)]);
  }

  /** Where it cannot be done (a full disk, an index of nothing but what must stay), it is tried again when there is a good deal more. */
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

  /** How many bytes there are then. */
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

  /** At most `length` bytes from `from`; a negative `from` counts from the end. */
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

/** A time that goes back is a step too, which nobody noticed: how long it was until then is not known, and counts as nothing. */
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
