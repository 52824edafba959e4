/**
 * `times.idx`: when which byte of a recording came, and how large the terminal was. One line per sample:
 *
 *   `1794717879123 4096`          at this time (ms) the recording had 4096 bytes
 *   `1794717879123 4096 120x40`   … and the terminal has this size from here on
 *   `- 8192`                      the bytes up to 8192 came while nobody sampled: their times are not known
 *
 * The last line is also the remembered offset: what the recording has beyond it has not been sampled yet. A torn last line
 * (a crash in mid-write) is passed over.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "@holdfast/platform";

export interface Size {
  columns: number;
  rows: number;
}

export type Sample = { at: number | null; offset: number; size?: Size };

const LINE = /^(-|\d+) (\d+)(?: (\d+)x(\d+))?$/;

export class Times {
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, "times.idx");
  }

  append(sample: Sample): void {
    const size = sample.size ? ` ${sample.size.columns}x${sample.size.rows}` : "";
    appendFileSync(this.#path, `${sample.at ?? "-"} ${sample.offset}${size}\n`, { mode: 0o600 });
  }

  read(): Sample[] {
    let text: string;
    try {
      text = readFileSync(this.#path, "latin1");
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
    return text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .flatMap(parseSample);
  }

  /** The offset up to which samples were taken. */
  sampled(): number {
    return this.read().at(-1)?.offset ?? 0;
  }

  /** Where the bytes that came at `time` or later begin. Bytes of unknown time count as early as they may have come. */
  offsetAt(time: number): number {
    let offset = 0;
    for (const sample of this.read()) {
      if (sample.at === null) continue;
      if (sample.at >= time) return offset;
      offset = sample.offset;
    }
    return offset;
  }

  sizes(): (Size & { offset: number })[] {
    return this.read().flatMap(({ offset, size }) => (size ? [{ offset, ...size }] : []));
  }
}

function parseSample(line: string): Sample[] {
  const match = LINE.exec(line);
  if (!match) return [];
  const sample: Sample = { at: match[1] === "-" ? null : Number(match[1]), offset: Number(match[2]) };
  if (match[3] !== undefined) sample.size = { columns: Number(match[3]), rows: Number(match[4]) };
  return [sample];
}
