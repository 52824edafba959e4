/**
 * `gaps` in a run's directory: the gaps of its recording. Each line is JSON with the offset at which the recording continues, the number of missing
 * bytes (null: not known), the reason and the start time. A holder writes it for its own recording, and the daemon when tmux's recorder died, always
 * before the output after the gap. So a reader of a byte knows every gap before it.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "./files.ts";

export interface Gap {
  offset: number;
  bytes: number | null;
  why: string;
  /** Start of the gap in milliseconds since 1970; null: not known. */
  at: number | null;
}

export const GAPS_FILE = "gaps";

/** Begins with a newline: a line that was torn by a full disk or a crash then stays a separate, unreadable line. */
export function appendGap(directory: string, gap: Gap): void {
  appendFileSync(join(directory, GAPS_FILE), `\n${JSON.stringify(gap)}\n`, { mode: 0o600 });
}

/** Several gaps at one offset are one gap, which grew before further output came. */
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
