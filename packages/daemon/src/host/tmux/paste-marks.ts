/**
 * Tells if the program in a pane has requested bracketed paste (mode 2004). tmux knows but does not report it, so the answer is the last mode
 * switch in the recording, read from its end. A file keeps the last switch of deleted segments. Most programs never switch the mode, so the read
 * position is remembered and only new output is read.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isMissing, segmentNames, writeFileAtomic } from "@holdfast/platform";

/** A mode switch that spans two reads is found in the overlap. */
const OVERLAP = 64;
const KEPT = "paste-marks";

interface Segment {
  path: string;
  size: number;
}

/** What was read: everything before `from` in the segment at `path`, and a little more. */
interface Read {
  path: string;
  from: number;
  word: boolean;
}

export class PasteMarks {
  readonly #read = new Map<string, Read>();

  asked(directory: string): boolean {
    const segments = segmentNames(readdirSync(directory)).map(({ name }) => segmentAt(join(directory, name)));
    const before = this.#read.get(directory);
    const first = before ? segments.findIndex(({ path }) => path === before.path) : -1;
    const word =
      before && first >= 0 ? (lastWord(segments.slice(first), before.from) ?? before.word) : (lastWord(segments) ?? remembered(directory));
    const end = segments.findLast(({ size }, index) => size >= OVERLAP || index === 0);
    if (end) this.#read.set(directory, { path: end.path, from: Math.max(0, end.size - OVERLAP), word });
    return word;
  }

  /** Called before these oldest segments are deleted. */
  remember(directory: string, paths: readonly string[]): void {
    const word = lastWord(paths.map(segmentAt));
    if (word !== undefined) writeFileAtomic(join(directory, KEPT), word ? "on\n" : "off\n");
  }

  /** Called when the run has ended. */
  forget(directory: string): void {
    this.#read.delete(directory);
  }
}

function remembered(directory: string): boolean {
  try {
    return readFileSync(join(directory, KEPT), "utf8") === "on\n";
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The last mode switch in these segments, oldest first; skips `from` bytes of the first. */
function lastWord(segments: readonly Segment[], from = 0): boolean | undefined {
  let after = "";
  for (const segment of segments.toReversed()) {
    const text = textOf(segment, segment === segments[0] ? from : 0) + after;
    const last = lastSwitch(text);
    if (last !== undefined) return last;
    after = text.slice(0, OVERLAP);
  }
  return undefined;
}

function lastSwitch(text: string): boolean | undefined {
  for (let at = text.lastIndexOf("2004"); at >= 0; at = at === 0 ? -1 : text.lastIndexOf("2004", at - 1)) {
    const start = text.lastIndexOf("\x1b", at);
    const sequence = start < 0 ? null : /^\[\?(?:\d+;)*2004(?:;\d+)*([hl])/.exec(text.slice(start + 1, at + OVERLAP));
    if (sequence) return sequence[1] === "h";
  }
  return undefined;
}

/** A segment that was just deleted has size 0. */
function segmentAt(path: string): Segment {
  return { path, size: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
}

function textOf({ path, size }: Segment, from: number): string {
  if (size <= from) return "";
  const buffer = Buffer.allocUnsafe(size - from);
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, from));
  } finally {
    closeSync(file);
  }
}
