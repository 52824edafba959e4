/**
 * `times.idx`: when which byte of a recording came, and how large the terminal was. One line per sample:
 *
 *   `1794717879123 4096`          at this time (ms) the recording had 4096 bytes
 *   `1794717879123 4096 120x40`   … and the terminal has this size from here on
 *   `- 8192`                      the bytes up to 8192 came while nobody sampled: their times are not known
 *
 * The last line is also the remembered offset: what the recording has beyond it has not been sampled yet. A torn last line
 * (a crash or a full disk in mid-write) is passed over, and cut off before the next one is written.
 */
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "@holdfast/platform";

export interface Size {
  columns: number;
  rows: number;
}

export type Sample = { at: number | null; offset: number; size?: Size };

const LINE = /^(-|\d+) (\d+)(?: (\d+)x(\d+))?$/;

/** More than the longest line; an index of days has millions of lines, and only its end says where to go on. */
const TAIL = 4096;
const PAGE = 64 * 1024;

export class Times {
  readonly #path: string;
  #endsWhole = false;

  constructor(directory: string) {
    this.#path = join(directory, "times.idx");
  }

  append(sample: Sample): void {
    const size = sample.size ? ` ${sample.size.columns}x${sample.size.rows}` : "";
    if (!this.#endsWhole) this.#cutTornLine();
    this.#endsWhole = false;
    appendFileSync(this.#path, `${sample.at ?? "-"} ${sample.offset}${size}\n`, { mode: 0o600 });
    this.#endsWhole = true;
  }

  read(): Sample[] {
    try {
      return samplesIn(readFileSync(this.#path, "latin1"));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** The offset up to which samples were taken. */
  sampled(): number {
    const { start, text } = this.#tail();
    const whole = start === 0 ? text : text.slice(text.indexOf("\n") + 1);
    return (samplesIn(whole).at(-1) ?? this.read().at(-1))?.offset ?? 0;
  }

  /** Where the bytes that came at `time` or later begin. Bytes of unknown time count as late as they may have come. */
  offsetAt(time: number): number {
    let offset = 0;
    for (const sample of this.read()) {
      if (sample.at === null) continue;
      if (sample.at >= time) return offset;
      offset = sample.offset;
    }
    return offset;
  }

  /** The first time there is, and how long it is from there to the last; a clock that was set back does not count. */
  span(): { startedAt: number | null; durationMs: number } {
    const times = this.read().flatMap(({ at }) => (at === null ? [] : [at]));
    let durationMs = 0;
    for (let i = 1; i < times.length; i++) durationMs += Math.max(0, (times[i] ?? 0) - (times[i - 1] ?? 0));
    return { startedAt: times[0] ?? null, durationMs };
  }

  /** The samples of one page, which begins `after` so many bytes of the file: an index of days has millions of lines. */
  page(after: number): { samples: Sample[]; next: number; more: boolean } {
    const { text, size } = this.#piece(after, PAGE);
    // A whole page without a line's end is damage: it is passed over, where an unfinished last line is waited for.
    const whole = text.lastIndexOf("\n") + 1 || (text.length === PAGE ? PAGE : 0);
    return { samples: samplesIn(text), next: after + whole, more: whole > 0 && after + whole < size };
  }

  sizes(): (Size & { offset: number })[] {
    return this.read().flatMap(({ offset, size }) => (size ? [{ offset, ...size }] : []));
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
  return [sample];
}
