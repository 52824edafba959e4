/**
 * `gaps` in a run's directory: where the recording has a hole. One line each: the offset at which it goes on, how many bytes are missing
 * there (`-`: nobody knows), and why. Written by whoever knows: a holder of its own recording, the daemon when tmux's recorder died.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "./files.ts";

export interface Gap {
  offset: number;
  bytes: number | null;
  why: string;
}

export const GAPS_FILE = "gaps";

/** Begins with a line's end: one that was torn (a full disk, a crash) is then a line of its own, which nobody understands. */
export function appendGap(directory: string, { offset, bytes, why }: Gap): void {
  appendFileSync(join(directory, GAPS_FILE), `\n${offset} ${bytes ?? "-"} ${why}\n`, { mode: 0o600 });
}

/** The first of several at one place: a recorder that died again before it had written anything made no new hole. */
export function readGaps(directory: string): Gap[] {
  const gaps = new Map<number, Gap>();
  for (const line of textOf(directory).split("\n").slice(0, -1)) {
    const match = /^(\d+) (-|\d+) (.+)$/.exec(line);
    const offset = Number(match?.[1]);
    if (!match || gaps.has(offset)) continue;
    gaps.set(offset, { offset, bytes: match[2] === "-" ? null : Number(match[2]), why: match[3] ?? "" });
  }
  return [...gaps.values()];
}

function textOf(directory: string): string {
  try {
    return readFileSync(join(directory, GAPS_FILE), "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}
