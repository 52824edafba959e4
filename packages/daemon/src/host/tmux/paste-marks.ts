/**
 * Whether the program in a pane has asked for marks around pasted text (mode 2004). tmux knows but does not tell, so the answer is
 * the last word in the recording, read from its end; of what has been deleted of it, the last word is kept in a file.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isMissing, SEGMENT_BYTES, segmentNames, writeFileAtomic } from "@holdfast/platform";

/** A mode switch that lies across two segments is found in the overlap. */
const OVERLAP = 64;
const KEPT = "paste-marks";

export function asksForPasteMarks(directory: string): boolean {
  const segments = segmentNames(readdirSync(directory))
    .reverse()
    .map(({ name }) => join(directory, name));
  return lastWord(segments) ?? remembered(directory);
}

/** Before these segments, the oldest, are deleted. */
export function rememberPasteMarks(directory: string, paths: readonly string[]): void {
  const last = lastWord([...paths].reverse());
  if (last !== undefined) writeFileAtomic(join(directory, KEPT), last ? "on\n" : "off\n");
}

function remembered(directory: string): boolean {
  try {
    return readFileSync(join(directory, KEPT), "utf8") === "on\n";
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Newest segment first. */
function lastWord(segments: readonly string[]): boolean | undefined {
  let after = "";
  for (const path of segments) {
    const text = readAll(path) + after;
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

/** Nothing of a segment that has just been deleted. */
function readAll(path: string): string {
  const length = Math.min(statSync(path, { throwIfNoEntry: false })?.size ?? 0, SEGMENT_BYTES);
  if (length === 0) return "";
  const buffer = Buffer.allocUnsafe(length);
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
