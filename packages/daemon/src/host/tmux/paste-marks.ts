/**
 * Whether the program in a pane has asked for marks around pasted text (mode 2004). tmux knows but does not tell, so the answer is
 * the last word in the recording, read from its end.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

const CHUNK = 1 << 20;
/** A mode switch that lies across two chunks is found in the overlap. */
const OVERLAP = 64;

export function asksForPasteMarks(directory: string): boolean {
  const segments = readdirSync(directory)
    .filter((name) => /^output(?:-\d{3})?\.\d{6,}$/.test(name))
    .sort((a, b) => generation(a) - generation(b) || (a < b ? -1 : 1))
    .reverse();
  let after = "";
  for (const name of segments) {
    const text = readAll(join(directory, name)) + after;
    const last = lastSwitch(text);
    if (last !== undefined) return last;
    after = text.slice(0, OVERLAP);
  }
  return false;
}

function lastSwitch(text: string): boolean | undefined {
  for (let at = text.lastIndexOf("2004"); at >= 0; at = at === 0 ? -1 : text.lastIndexOf("2004", at - 1)) {
    const start = text.lastIndexOf("\x1b", at);
    const sequence = start < 0 ? null : /^\[\?(?:\d+;)*2004(?:;\d+)*([hl])/.exec(text.slice(start + 1, at + OVERLAP));
    if (sequence) return sequence[1] === "h";
  }
  return undefined;
}

function generation(name: string): number {
  return Number(/-(\d{3})\./.exec(name)?.[1] ?? 0);
}

function readAll(path: string): string {
  const length = Math.min(statSync(path).size, CHUNK);
  const buffer = Buffer.allocUnsafe(length);
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
