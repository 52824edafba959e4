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
 */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { isMissing, writeFileAtomic } from "@holdfast/platform";

export interface Size {
  columns: number;
  rows: number;
}

/** `step`: by how much the clock was set since the sample before. */
export type Sample = { at: number | null; offset: number; size?: Size; step?: number };

const LINE = /^(-|\d+) (\d+)(?: (\d+)x(\d+))?(?: ~(-?\d+))?$/;

/** More than the longest line; an index of days has millions of lines, and only its end says where to go on. */
const TAIL = 4096;
const PAGE = 64 * 1024;

export class Times {
  readonly #path: string;
  #endsWhole = false;

  constructor(directory: string) {
    this.#path = join(directory, "times.idx");
  }

  /** `at` is the time of day as it is now. */
  append(sample: Sample): void {
    if (!this.#endsWhole) this.#cutTornLine();
    this.#endsWhole = false;
    appendFileSync(this.#path, textOf(sample), { mode: 0o600 });
    this.#endsWhole = true;
  }

  /** With times on the clock of the first. */
  read(): Sample[] {
    return this.#onOneClock().samples;
  }

  /** A time that goes back is a step too, which nobody noticed: how long it was until then is not known, and counts as nothing. */
  #onOneClock(): { samples: Sample[]; steps: number } {
    let steps = 0;
    let latest = 0;
    const samples = this.#samples().map(({ step = 0, ...sample }) => {
      steps += step;
      if (sample.at === null) return sample;
      steps += Math.min(0, sample.at - steps - latest);
      latest = sample.at - steps;
      return { ...sample, at: latest };
    });
    return { samples, steps };
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
    const { samples, steps } = this.#onOneClock();
    let offset = 0;
    for (const sample of samples) {
      if (sample.at === null) continue;
      if (sample.at >= time - steps) return offset;
      offset = sample.offset;
    }
    return offset;
  }

  /** The first time there is, and how long it is from there to the last, as if nobody had set the clock. */
  span(): { startedAt: number | null; durationMs: number } {
    const times = this.read().flatMap(({ at }) => (at === null ? [] : [at]));
    return { startedAt: times[0] ?? null, durationMs: (times.at(-1) ?? 0) - (times[0] ?? 0) };
  }

  /** The samples of one page as they were taken, which begins `after` so many bytes of the file: an index of days has millions of lines. */
  page(after: number): { samples: Sample[]; next: number; more: boolean } {
    const { text, size } = this.#piece(after, PAGE);
    // A whole page without a line's end is damage: it is passed over, where an unfinished last line is waited for.
    const whole = text.lastIndexOf("\n") + 1 || (text.length === PAGE ? PAGE : 0);
    return { samples: samplesIn(text), next: after + whole, more: whole > 0 && after + whole < size };
  }

  sizes(): (Size & { offset: number })[] {
    return this.read().flatMap(({ offset, size }) => (size ? [{ offset, ...size }] : []));
  }

  /** What is told of bytes before `offset` goes with them; the size that the terminal had there stays. */
  forgetBefore(offset: number): void {
    const samples = this.#samples();
    const first = samples.findLastIndex((sample) => sample.offset <= offset);
    const begin = samples[first];
    if (!begin || first === 0) return;
    const size = samples.slice(0, first + 1).findLast((sample) => sample.size)?.size;
    writeFileAtomic(this.#path, [size ? { ...begin, size } : begin, ...samples.slice(first + 1)].map(textOf).join(""));
  }

  #cutTornLine(): void {
    const { start, text } = this.#tail();
    if (text === "" || text.endsWith("\n")) return;
    const end = text.lastIndexOf("\n");
    truncateSync(this.#path, end < 0 && start > 0 ? readFileSync(this.#path, "latin1").lastIndexOf("\n") + 1 : start + end + 1);
  }

  #tail(): { start: number; text: string } {
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

function samplesIn(text: string): Sample[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap(parseSample);
}

function parseSample(line: string): Sample[] {
  const match = LINE.exec(line);
  if (!match) return [];
  const sample: Sample = { at: match[1] === "-" ? null : Number(match[1]), offset: Number(match[2]) };
  if (match[3] !== undefined) sample.size = { columns: Number(match[3]), rows: Number(match[4]) };
  if (match[5] !== undefined) sample.step = Number(match[5]);
  return [sample];
}

function textOf({ at, offset, size, step }: Sample): string {
  return `${at ?? "-"} ${offset}${size ? ` ${size.columns}x${size.rows}` : ""}${step ? ` ~${Math.round(step)}` : ""}\n`;
}
