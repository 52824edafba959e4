/**
 * `gaps` in a run's directory: where the recording has a hole. One line of JSON each: the offset at which it goes on, how many bytes are
 * missing there (null: nobody knows), why, and since when. Written by whoever knows, before what comes after the hole: a holder of its own
 * recording, the daemon when tmux's recorder died. So whoever has read a byte knows of every hole before it.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "./files.ts";

export interface Gap {
  offset: number;
  bytes: number | null;
  why: string;
  /** When it began, in milliseconds since 1970; null: nobody knows. */
  at: number | null;
}

export const GAPS_FILE = "gaps";

/** Begins with a line's end: one that was torn (a full disk, a crash) is then a line of its own, which nobody understands. */
export function appendGap(directory: string, gap: Gap): void {
  appendFileSync(join(directory, GAPS_FILE), `\n${JSON.stringify(gap)}\n`, { mode: 0o600 });
}

/** Several at one place are one hole, which grew before anything came after it. */
export function readGaps(directory: string): Gap[] {
  const gaps = new Map<number, Gap>();
  for (const gap of textOf(directory).split("\n").flatMap(parseGap)) {
    const before = gaps.get(gap.offset);
    gaps.set(gap.offset, before ? { ...before, bytes: sum(before.bytes, gap.bytes) } : gap);
  }
  return [...gaps.values()];
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function parseGap(line: string): Gap[] {
  try {
    const { offset, bytes, why, at } = JSON.parse(line) as Partial<Gap>;
    if (!Number.isSafeInteger(offset) || (bytes !== null && !Number.isSafeInteger(bytes)) || typeof why !== "string") return [];
    return [{ offset: Number(offset), bytes: bytes ?? null, why, at: Number.isSafeInteger(at) ? Number(at) : null }];
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
