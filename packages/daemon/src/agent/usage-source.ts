/**
 * What an agent wrote down itself of what it used of models. It is read now and then, each time from where the last reading ended; the state that says
 * where is kept with what was read, so that nothing is read twice, whoever dies when.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { parsed } from "./transcript.ts";

/** One call of a model. Null: it does not tell. */
export interface Call {
  /** The same call may be told several times, with more tokens each. */
  id: string;
  at: string | null;
  model: string | null;
  /** Without what was read from a cache or written to one. */
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
  /** Where it writes of this conversation, and of what it set others to do in it: files, or names that `read` knows. */
  places(of: Conversing): string[];
  /**
   * What is there beyond the state, at most so much at once: `more` says that there is more. A place that cannot be read is empty. The state
   * is the same one where there was nothing.
   */
  read(place: string, state: string | undefined, of: Conversing): Reading;
}

export interface Reading {
  calls: Call[];
  state: string;
  more: boolean;
}

/** What the reader of lines remembers beside its place; `model` for those that say it once. */
export interface Memory {
  model?: string | null;
  /** Of those that only tell the sum of all. */
  total?: number;
  /** Of those that mark an answer as complete in another line. */
  answered?: boolean;
}

/** At once: a few milliseconds of parsing, in which nothing else is done. */
const READ_BYTES = 1 << 20;

/** No agent writes a call in more. A longer line is passed over, never held as a whole. */
const LONGEST_LINE = 32 << 20;

/** Calls that are told again come soon after. */
const RECENT = 6;

interface LinesState extends Memory {
  offset: number;
  /** The newest of what was told: in a file that was replaced by a shorter one, nothing older counts. */
  until?: string;
  recent?: [id: string, ...told: (number | null)[]][];
}

/** Files to which one JSON value a line is appended. `call` may note things for the lines that follow. */
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
      for (const line of text.split("\n")) {
        const call = how.call(parsed(line), memory);
        if (!call || (isOther && (call.at ?? "") <= (before.until ?? ""))) continue;
        tell(calls, call, memory);
        if (call.at !== null && call.at > (memory.until ?? "")) memory.until = call.at;
      }
      return { calls, state: JSON.stringify({ ...memory, offset }), more };
    },
  };
}

function stateOf(state: string | undefined): LinesState {
  return state === undefined ? { offset: 0 } : (JSON.parse(state) as LinesState);
}

/** Of one that was told before, what is new of it. */
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
  /** Whole ones. */
  text: string;
  /** Behind them. */
  offset: number;
  more: boolean;
  /** The file is shorter than what was read of it: it is another one. */
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
    // A pipe in its place would stop the daemon until somebody wrote to it.
    if (!stat.isFile()) return { text: "", offset: from, more: false, isOther: false };
    const { size } = stat;
    const isOther = size < from;
    const start = isOther ? 0 : from;
    let bytes = Buffer.alloc(0);
    // A line that is longer than what is read at once is read whole.
    for (let length = Math.min(atOnce, longest); ; length = Math.min(length * 4, longest)) {
      bytes = Buffer.alloc(Math.min(length, size - start));
      bytes = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
      if (bytes.includes(10) || bytes.length < length) break;
      // The rest of it is no JSON, and tells nothing.
      if (length === longest) return { text: "", offset: start + length, more: true, isOther };
    }
    const end = bytes.lastIndexOf(10) + 1;
    return { text: bytes.toString("utf8", 0, end), offset: start + end, more: start + bytes.length < size && end > 0, isOther };
  } finally {
    closeSync(file);
  }
}

/** A whole number that makes sense, else null. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}

/** What is left of the one without the other; null where either is not known. */
export function less(whole: number | null, part: number | null): number | null {
  return whole === null || part === null ? null : Math.max(0, whole - part);
}
