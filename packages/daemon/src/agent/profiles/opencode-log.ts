/** Finds conversations in opencode's log. Each start has an id (`run=`), which is in all its lines. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { allProcesses, msSince, startStamp } from "@holdfast/platform";
import type { Running } from "../find-conversation.ts";

/** Longest time from a start to its first line, on an overloaded machine. */
const FIRST_LINE_MS = 60_000;
const CLOCK_MS = 1000;

export function findOpencodeConversation({ pids, since, cwd, env }: Running): string | undefined {
  const data = env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local/share");
  const lines = followed(join(data, "opencode/log/opencode.log"));
  return conversationInLog(lines, { since, cwd, others: () => otherStarts(pids) });
}

interface Place {
  since: number;
  cwd: string;
  /** Start times of all other opencodes that run. */
  others(): number[];
}

/** Undefined if several processes started there at about that time, or if its first lines are gone. */
export function conversationInLog(log: readonly string[], { since, cwd, others }: Place): string | undefined {
  const starts = Map.groupBy(log, (line) => /\brun=(\w+)/.exec(line)?.[1] ?? "");
  starts.delete("");
  const all = [...starts.values()].map((lines) => ({ at: timeOf(lines[0]), lines }));
  const fitting = all.filter(({ at, lines }) => isWithin(at, since) && lines.some((line) => worksIn(line, cwd)));
  const [only, ...rest] = fitting.length < 2 ? fitting : beforeTheNext(fitting, { all, since, others: others() });
  if (!only || rest.length > 0) return undefined;
  const { lines } = only;
  // Excludes the conversations of subagents, which nobody continues.
  const children = new Set(lines.flatMap((line) => /message=created id=(\w+) .*\bparentID=ses_/.exec(line)?.[1] ?? []));
  const turns = lines.flatMap((line) => /message=loop session\.id=(\w+)/.exec(line)?.[1] ?? []);
  return turns.findLast((id) => !children.has(id));
}

interface Start {
  /** Time of the first line. */
  at: number;
  lines: readonly string[];
}

/**
 * The starts whose first line came before any later process existed. None if an earlier process may be late: one that started within a minute before
 * and has no first line of its own.
 */
function beforeTheNext(fitting: Start[], { all, since, others }: { all: readonly Start[]; since: number; others: number[] }): Start[] {
  const next = Math.min(...others.filter((start) => start > since));
  const earlier = others.filter((start) => start <= since && start > since - FIRST_LINE_MS);
  const accounted = all.filter(({ at }) => at >= Math.min(...earlier) - CLOCK_MS && at < since - CLOCK_MS);
  return accounted.length < earlier.length ? [] : fitting.filter(({ at }) => at < next - CLOCK_MS);
}

function otherStarts(pids: readonly number[]): number[] {
  const others = [...allProcesses().values()].filter(({ pid, name }) => /opencode/.test(name) && !pids.includes(pid));
  return others.map(({ start }) => Date.now() - (msSince(startStamp(start)) ?? 0));
}

function timeOf(line = ""): number {
  return Date.parse(/^timestamp=(\S+)/.exec(line)?.[1] ?? "");
}

function isWithin(at: number, since: number): boolean {
  return at >= since - CLOCK_MS && at <= since + FIRST_LINE_MS;
}

/** The log quotes paths if necessary. */
function worksIn(line: string, cwd: string): boolean {
  return [cwd, JSON.stringify(cwd)].some((path) => `${line} `.includes(` directory=${path} `));
}

/** Bytes read at once: the end of a long log. */
const READ_BYTES = 8 << 20;
/** Lines kept of a log: the newest. */
const MOST_LINES = 20_000;

interface Followed {
  inode: number;
  offset: number;
  /** The lines that tell something; the first of each start. */
  lines: string[];
  runs: Set<string>;
}

const logs = new Map<string, Followed>();

/** Reads only what was added since the last call. */
function followed(path: string): readonly string[] {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return [];
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return [];
    const before = logs.get(path);
    const log =
      before && before.inode === stat.ino && before.offset <= stat.size
        ? before
        : { inode: stat.ino, offset: 0, lines: [], runs: new Set<string>() };
    logs.set(path, log);
    const from = Math.max(log.offset, stat.size - READ_BYTES);
    const bytes = Buffer.allocUnsafe(stat.size - from);
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
    const whole = read.lastIndexOf(10) + 1;
    log.offset = from + whole;
    keep(log, read.toString("utf8", 0, whole).split("\n"));
    return log.lines;
  } finally {
    closeSync(file);
  }
}

function keep({ lines, runs }: Followed, added: readonly string[]): void {
  for (const line of added) {
    const run = /\brun=(\w+)/.exec(line)?.[1];
    if (run === undefined) continue;
    const isFirst = !runs.has(run);
    if (isFirst) runs.add(run);
    if (isFirst || / message=(loop|created) | directory=/.test(line)) lines.push(line);
  }
  if (lines.length > MOST_LINES) lines.splice(0, lines.length - MOST_LINES);
}
