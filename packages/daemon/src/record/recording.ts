/**
 * The raw bytes of a run's terminal, written by its keeper's recorder: segments `output.000000`, `output.000001`, … Each replacement recorder adds
 * a generation `output-001.000000`, … An offset counts bytes from the start of the run over all of them. The keeper appends; the daemon reads, and
 * deletes the oldest beyond a limit (limit.ts).
 *
 * Offsets do not change when segments are deleted: every segment but the last of a generation has SEGMENT_BYTES, so a missing number counts that
 * much. If names are not enough, `cut` records the offset at which a segment starts.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isMissing, parseSegmentName, SEGMENT_BYTES, type SegmentName, segmentNames, segmentPrefix } from "@holdfast/platform";

export interface Segment {
  path: string;
  name: string;
  offset: number;
  size: number;
}

export const CUT = "cut";

type Place = Pick<SegmentName, "generation" | "number">;

export class Recording {
  readonly directory: string;
  /** Segments as last read. All but the last are finished: checking each on every read would make long recordings slow. */
  #known: Segment[] = [];

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The end offset: the number of bytes ever recorded. */
  size(): number {
    const last = this.last();
    return last ? last.offset + last.size : 0;
  }

  /** The start offset: the number of deleted bytes. */
  begins(): number {
    return this.segments()[0]?.offset ?? 0;
  }

  /** Returns the segment that is still growing. */
  last(): Segment | undefined {
    return this.segments().at(-1);
  }

  /** Time of the last byte, according to the file system. */
  lastActivity(): number | null {
    const last = this.last();
    // The time of an empty segment is only its creation.
    return last && last.offset + last.size > 0 ? (statSync(last.path, { throwIfNoEntry: false })?.mtimeMs ?? null) : null;
  }

  /** Returns the prefix that a replacement recorder must use. */
  nextPrefix(): string {
    return segmentPrefix((listing(this.directory).names.at(-1)?.generation ?? 0) + 1);
  }

  /** Reads at most `max` bytes from `offset`; fewer only at the current end, or before deleted bytes. */
  read(offset: number, max: number): Buffer {
    const known = this.#known;
    const isFinished = offset >= (known[0]?.offset ?? 0) && offset + max <= (known.at(-1)?.offset ?? 0);
    const bytes = isFinished ? readFrom(known, offset, max) : undefined;
    // Fewer bytes: some were deleted meanwhile.
    return bytes?.length === max ? bytes : readFrom(this.segments(), offset, max);
  }

  /** Returns `offset`, or the offset of the next byte that still exists; at or beyond the end, `offset` itself. */
  next(offset: number): number {
    for (const segment of this.segments()) if (offset < segment.offset + segment.size) return Math.max(offset, segment.offset);
    return offset;
  }

  /** Deletes every segment. The run's other files stay. */
  remove(): void {
    for (const path of [...this.leftovers(), ...this.segments().map(({ path }) => path)]) rmSync(path, { force: true });
  }

  /** Returns segments that `cut` marks as deleted but a daemon died before deleting. */
  leftovers(): string[] {
    const { names, hasCut } = listing(this.directory);
    const cut = hasCut ? readCut(this.directory) : undefined;
    return cut ? names.filter((name) => isBefore(name, cut)).map(({ name }) => join(this.directory, name)) : [];
  }

  segments(): Segment[] {
    const { names, hasCut } = listing(this.directory);
    const finished = new Map(this.#known.slice(0, -1).map(({ path, size }) => [path, size]));
    let at = { generation: 0, number: 0, offset: 0, ...(hasCut ? readCut(this.directory) : undefined) };
    this.#known = names.flatMap(({ name, generation, number }) => {
      if (isBefore({ generation, number }, at)) return [];
      const path = join(this.directory, name);
      const size = finished.get(path) ?? statSync(path, { throwIfNoEntry: false })?.size;
      if (size === undefined) return [];
      const missing = generation === at.generation ? number - at.number : number;
      const offset = at.offset + missing * SEGMENT_BYTES;
      at = { generation, number: number + 1, offset: offset + size };
      return [{ path, name, offset, size }];
    });
    return this.#known;
  }
}

function isBefore(name: Place, other: Place): boolean {
  return name.generation < other.generation || (name.generation === other.generation && name.number < other.number);
}

function readFrom(segments: readonly Segment[], offset: number, max: number): Buffer {
  const last = segments.at(-1);
  const length = Math.max(0, Math.min(max, last ? last.offset + last.size - offset : 0));
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  for (const segment of segments) {
    const from = offset + filled - segment.offset;
    if (from >= segment.size || filled === length) continue;
    if (from < 0) break;
    const read = readAt(segment.path, { buffer, at: filled, length: Math.min(length - filled, segment.size - from), from });
    filled += read;
    if (read === 0) break;
  }
  return buffer.subarray(0, filled);
}

/** Returns a segment's start offset, assuming full segments before it; undefined for a replacement recorder's segments. */
export function offsetByName(name: string): number | undefined {
  const parsed = parseSegmentName(name);
  return parsed?.generation === 0 ? parsed.number * SEGMENT_BYTES : undefined;
}

function readCut(directory: string): { generation: number; number: number; offset: number } | undefined {
  try {
    const match = /^(\d+) (\S+)\n$/.exec(readFileSync(join(directory, CUT), "latin1"));
    const name = parseSegmentName(match?.[2] ?? "");
    return name && { generation: name.generation, number: name.number, offset: Number(match?.[1]) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function listing(directory: string): { names: SegmentName[]; hasCut: boolean } {
  let entries: string[];
  try {
    entries = readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return { names: [], hasCut: false };
    throw error;
  }
  return { names: segmentNames(entries), hasCut: entries.includes(CUT) };
}

/** Reads nothing from a segment that was just deleted. */
function readAt(path: string, what: { buffer: Buffer; at: number; length: number; from: number }): number {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
  try {
    return readSync(file, what.buffer, what.at, what.length, what.from);
  } finally {
    closeSync(file);
  }
}
