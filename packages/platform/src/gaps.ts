/**
 * `gaps` in a run's directory: where the recording has a hole. One line of JSON each: the offset at which it goes on, how many bytes are
 * missing there (null: nobody knows), and why. Written by whoever knows: a holder of its own recording, the daemon when tmux's recorder died.
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
export function appendGap(directory: string, gap: Gap): void {
  appendFileSync(join(directory, GAPS_FILE), `\n${JSON.stringify(gap)}\n`, { mode: 0o600 });
}

/** The first of several at one place: a recorder that died again before it had written anything made no new hole. */
export function readGaps(directory: string): Gap[] {
  const gaps = new Map<number, Gap>();
  for (const gap of textOf(directory).split("\n").flatMap(parseGap)) if (!gaps.has(gap.offset)) gaps.set(gap.offset, gap);
  return [...gaps.values()];
}

function parseGap(line: string): Gap[] {
  try {
    const { offset, bytes, why } = JSON.parse(line) as Partial<Gap>;
    if (!Number.isSafeInteger(offset) || (bytes !== null && !Number.isSafeInteger(bytes)) || typeof why !== "string") return [];
    return [{ offset: Number(offset), bytes: bytes ?? null, why }];
  } catch {
    return [];
  }
}

function textOf(directory: string): string {
  try {
    return readFileSync(join(directory, GAPS_FILE), "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}
