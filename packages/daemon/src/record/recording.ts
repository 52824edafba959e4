/**
 * The raw bytes of a run's terminal, as its keeper's recorder left them: segments `output.000000`, `output.000001`, … and,
 * for each time the recorder had to be replaced, another generation `output-001.000000`, … An offset counts bytes from the
 * start of the run over all of them. The keeper appends, the daemon only reads.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "@holdfast/platform";

export interface Segment {
  path: string;
  offset: number;
  size: number;
}

const SEGMENT = /^output(?:-(\d{3}))?\.(\d{6,})$/;

export class Recording {
  readonly directory: string;
  /** As last looked at. All but the last are finished: looking at each of them for each read would make a long recording slow. */
  #known: Segment[] = [];

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The file that the first recorder writes first. */
  get firstPath(): string {
    return join(this.directory, "output.000000");
  }

  size(): number {
    const last = this.last();
    return last ? last.offset + last.size : 0;
  }

  /** The segment that grows. */
  last(): Segment | undefined {
    return this.#segments().at(-1);
  }

  /** When the last byte came, as far as the file system knows. */
  lastActivity(): number | null {
    const last = this.last();
    return last ? statSync(last.path).mtimeMs : null;
  }

  /** The prefix a replacement recorder must use. */
  nextPrefix(): string {
    const generation = Math.max(0, ...names(this.directory).map(({ generation }) => generation)) + 1;
    return `output-${String(generation).padStart(3, "0")}.`;
  }

  /** At most `max` bytes from `offset`; fewer only at the end of what is written now. */
  read(offset: number, max: number): Buffer {
    const finished = this.#known.at(-1)?.offset ?? 0;
    if (offset + max <= finished) {
      try {
        return readFrom(this.#known, offset, max);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    return readFrom(this.#segments(), offset, max);
  }

  #segments(): Segment[] {
    const finished = new Map(this.#known.slice(0, -1).map(({ path, size }) => [path, size]));
    let offset = 0;
    this.#known = names(this.directory).map(({ name }) => {
      const path = join(this.directory, name);
      const size = finished.get(path) ?? statSync(path).size;
      const segment = { path, offset, size };
      offset += size;
      return segment;
    });
    return this.#known;
  }
}

function readFrom(segments: readonly Segment[], offset: number, max: number): Buffer {
  const last = segments.at(-1);
  const length = Math.max(0, Math.min(max, last ? last.offset + last.size - offset : 0));
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  for (const segment of segments) {
    const from = offset + filled - segment.offset;
    if (from < 0 || from >= segment.size || filled === length) continue;
    filled += readAt(segment.path, { buffer, at: filled, length: Math.min(length - filled, segment.size - from), from });
  }
  return buffer.subarray(0, filled);
}

function names(directory: string): { name: string; generation: number; number: number }[] {
  let entries: string[];
  try {
    entries = readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return entries
    .flatMap((name) => {
      const match = SEGMENT.exec(name);
      return match ? [{ name, generation: Number(match[1] ?? 0), number: Number(match[2]) }] : [];
    })
    .sort((a, b) => a.generation - b.generation || a.number - b.number);
}

function readAt(path: string, what: { buffer: Buffer; at: number; length: number; from: number }): number {
  const file = openSync(path, "r");
  try {
    return readSync(file, what.buffer, what.at, what.length, what.from);
  } finally {
    closeSync(file);
  }
}
