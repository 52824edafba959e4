/**
 * An agent's own record of its model usage. Each reading continues where the last one ended. The position is stored together with the usage read, so
 * nothing is counted twice after a crash.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Memory } from "./line-memory.ts";
import { entryIn, understood } from "./transcript.ts";

/** One model call. Null: the agent does not report it. */
export interface Call {
  /** The same call may be reported several times, each time with more tokens. */
  id: string;
  at: string | null;
  model: string | null;
  /** Without cache reads and writes. */
  input: number | null;
  output: number | null;
  cacheRead: number | null;
  cacheWrite: number | null;
  cost: number | null;
  context: { used: number; size: number } | null;
}

export interface Conversing {
  conversation: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface UsageSource {
  /** The places for this conversation and its subagents: files, or names that `read` knows. */
  places(of: Conversing): string[];
  /**
   * Reads a limited amount after the state; `more` is true if there is more. A place that cannot be read is empty. Without anything new the state
   * stays the same.
   */
  read(place: string, state: string | undefined, of: Conversing): Reading;
}

export interface Reading {
  calls: Call[];
  state: string;
  more: boolean;
}

/** Bytes read at once: a few milliseconds of parsing that block the daemon. */
const READ_BYTES = 1 << 20;

/** No agent writes a longer call. A longer line is skipped and never held in memory as a whole. */
const LONGEST_LINE = 32 << 20;

/** Number of calls remembered, since a repeated call follows soon. */
const RECENT = 6;

interface LinesState extends Memory {
  offset: number;
  /** Time of the newest call. In a file that was replaced by a shorter one, older calls do not count. */
  until?: string;
  recent?: [id: string, ...told: (number | null)[]][];
}

/** Files with one JSON value per line. `call` may keep notes for later lines. */
export function usageInLines(how: {
  files(of: Conversing): string[];
  call(entry: unknown, memory: Memory): Call | undefined;
  limits?: Partial<Limits>;
}): UsageSource {
  return {
    places: how.files,
    read(place, state) {
      const before = stateOf(state);
      const { text, offset, more, isOther } = linesFrom(place, before.offset, { atOnce: READ_BYTES, longest: LONGEST_LINE, ...how.limits });
      const memory: LinesState = { ...before, recent: [...(before.recent ?? [])] };
      const calls: Call[] = [];
      const now = new Date().toISOString();
      for (const line of text.split("\n")) {
        const call = understood(() => how.call(entryIn(line), memory));
        if (!call || (isOther && (call.at ?? "") <= (before.until ?? ""))) continue;
        tell(calls, call, memory);
        // A call from the future must not hide those of a file that replaces this one.
        if (call.at !== null && call.at > (memory.until ?? "") && call.at <= now) memory.until = call.at;
      }
      return { calls, state: JSON.stringify({ ...memory, offset }), more };
    },
  };
}

function stateOf(state: string | undefined): LinesState {
  return state === undefined ? { offset: 0 } : (JSON.parse(state) as LinesState);
}

/** Adds a call; for one that was reported before, only the difference. */
function tell(calls: Call[], call: Call, memory: LinesState): void {
  const id = createHash("sha256").update(call.id).digest("base64url").slice(0, 8);
  const told = [call.input, call.output, call.cacheRead, call.cacheWrite];
  const recent = memory.recent ?? [];
  const known = recent.findIndex(([each]) => each === id);
  const [, ...before] = known < 0 ? [id] : (recent[known] ?? [id]);
  if (known >= 0) recent.splice(known, 1);
  memory.recent = [...recent.slice(1 - RECENT), [id, ...told.map((count, index) => most(count, before[index]))]];
  const [input, output, cacheRead, cacheWrite] = told.map((count, index) =>
    count === null ? count : Math.max(0, count - (before[index] ?? 0)),
  );
  const isNew = known < 0 || [input, output, cacheRead, cacheWrite].some((count) => count !== null && count !== undefined && count > 0);
  if (isNew)
    calls.push({ ...call, input: input ?? null, output: output ?? null, cacheRead: cacheRead ?? null, cacheWrite: cacheWrite ?? null });
}

function most(count: number | null, before: number | null | undefined): number | null {
  return count === null ? (before ?? null) : Math.max(count, before ?? 0);
}

interface Lines {
  /** Complete lines. */
  text: string;
  /** The position after them. */
  offset: number;
  more: boolean;
  /** The file is shorter than the part read before, so it is another file. */
  isOther: boolean;
}

interface Limits {
  atOnce: number;
  longest: number;
}

function linesFrom(path: string, from: number, { atOnce, longest }: Limits): Lines {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return { text: "", offset: from, more: false, isOther: false };
  }
  try {
    const stat = fstatSync(file);
    // A pipe in its place would block the daemon until something wrote to it.
    if (!stat.isFile()) return { text: "", offset: from, more: false, isOther: false };
    const { size } = stat;
    const isOther = size < from;
    const start = isOther ? 0 : from;
    let bytes = Buffer.alloc(0);
    // Reads more if a line is longer than the usual amount.
    for (let length = Math.min(atOnce, longest); ; length = Math.min(length * 4, longest)) {
      bytes = Buffer.alloc(Math.min(length, size - start));
      bytes = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
      if (bytes.includes(10) || bytes.length < length) break;
      // The rest of the line is not valid JSON and is ignored.
      if (length === longest) return { text: "", offset: start + length, more: true, isOther };
    }
    const end = bytes.lastIndexOf(10) + 1;
    return { text: bytes.toString("utf8", 0, end), offset: start + end, more: start + bytes.length < size && end > 0, isOther };
  } finally {
    closeSync(file);
  }
}

/** A valid count, rounded, else null. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}

/** The difference; null if either is unknown. */
export function less(whole: number | null, part: number | null): number | null {
  return whole === null || part === null ? null : Math.max(0, whole - part);
}
