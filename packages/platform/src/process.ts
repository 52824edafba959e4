/**
 * Processes by pid AND start time: a pid alone may name another process by now. Holdfast never signals a pid without checking that it is still the
 * same process. Linux reads /proc; other systems use `ps`.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { boot } from "./clock.ts";

export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  session: number;
  tty: string;
  zombie: boolean;
  /** True if the process waits, rather than being runnable. */
  sleeping: boolean;
  /** Together with the pid it identifies one process forever: boot id and clock ticks on Linux, start date elsewhere. */
  start: string;
  name: string;
  /** Processor time of the process and of children it has waited for. */
  cpuMs: number;
  /** Resident memory. */
  memoryBytes: number;
}

const linux = process.platform === "linux";

/** The process that has this pid now; undefined if there is none. */
export function inspect(pid: number): ProcessInfo | undefined {
  if (!linux) return psTable(["-p", String(pid)]).get(pid);
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** True only for exactly this process; a zombie counts as gone. */
export function isSameProcess(pid: number, start: string): boolean {
  const now = inspect(pid);
  return now !== undefined && !now.zombie && now.start === start;
}

/** True if the process is stopped (SIGSTOP) or held by a debugger. False if that is not known. */
export function isStopped(pid: number): boolean {
  if (!linux) return /^[Tt]/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? "");
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Sends the signal if exactly this process still runs; returns true if it was sent. */
export function signalProcess(pid: number, start: string, signal: NodeJS.Signals): boolean {
  if (!isSameProcess(pid, start)) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

export function allProcesses(): Map<number, ProcessInfo> {
  if (!linux) return psTable(["-A"]);
  const table = new Map<number, ProcessInfo>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const info = inspect(Number(entry));
    if (info) table.set(info.pid, info);
  }
  return table;
}

/** The variable's value in the initial environment of each process. Processes without it, or with an unreadable environment, are left out. */
export function environmentValues(name: string, pids: Iterable<number>): Map<number, string> {
  return linux ? fromProc(name, pids) : fromPs(name, new Set(pids));
}

/** The initial environment of a process; undefined if it cannot be read. */
export function environmentOf(pid: number): Record<string, string> | undefined {
  if (!linux) return undefined;
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return Object.fromEntries(entries.filter((entry) => entry.includes("=")).map((entry) => splitOnce(entry)));
  } catch {
    return undefined;
  }
}

function splitOnce(entry: string): [string, string] {
  const at = entry.indexOf("=");
  return [entry.slice(0, at), entry.slice(at + 1)];
}

/** Pids of processes with `NAME=value` in their initial environment. */
export function withEnvironmentEntry(entry: string, pids: Iterable<number>): Set<number> {
  const equals = entry.indexOf("=");
  const values = environmentValues(entry.slice(0, equals), pids);
  return new Set([...values].filter(([, value]) => value === entry.slice(equals + 1)).map(([pid]) => pid));
}

function fromProc(name: string, pids: Iterable<number>): Map<number, string> {
  const found = new Map<number, string>();
  const needle = Buffer.from(`\0${name}=`);
  for (const pid of pids) {
    let environment: Buffer;
    try {
      environment = readFileSync(`/proc/${pid}/environ`);
    } catch {
      // The process has ended, or belongs to another user.
      continue;
    }
    const first = environment.subarray(0, needle.length - 1).equals(needle.subarray(1));
    const start = first ? needle.length - 1 : environment.indexOf(needle) + needle.length;
    if (!first && start < needle.length) continue;
    const end = environment.indexOf(0, start);
    found.set(pid, environment.toString("utf8", start, end < 0 ? undefined : end));
  }
  return found;
}

/** `ps` prints the environment after the arguments, separated by blanks: a value with a blank is cut there. */
function fromPs(name: string, pids: ReadonlySet<number>): Map<number, string> {
  const found = new Map<number, string>();
  const ps = spawnSync("ps", ["-A", "-E", "-ww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 1 << 28 });
  for (const line of (ps.stdout ?? "").split("\n")) {
    const pid = Number.parseInt(line, 10);
    const start = pids.has(pid) ? line.indexOf(` ${name}=`) : -1;
    if (start >= 0) found.set(pid, line.slice(start + name.length + 2).split(" ")[0] ?? "");
  }
  return found;
}

/** The arguments of a process; empty if they cannot be read. The program may have changed them. */
export function argumentsOf(pid: number): string[] {
  if (!linux) return (spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "").trim().split(/\s+/);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Start time of a process as a stamp of clock.ts; undefined if `start` does not contain it. */
export function startStamp(start: string | null): string | undefined {
  const match = linux ? /^([0-9a-f]{8})-(\d+)$/.exec(start ?? "") : null;
  return match ? `${match[1]}-${Math.round((Number(match[2]) * 1000) / kernelUnits().ticksPerSecond)}` : undefined;
}

let units: { pageBytes: number; ticksPerSecond: number } | undefined;

/** From the auxiliary vector, the pairs of numbers that the kernel passes to every process: 6 is the page size, 17 the clock ticks. */
function kernelUnits(): { pageBytes: number; ticksPerSecond: number } {
  if (units) return units;
  const vector = readFileSync("/proc/self/auxv");
  const values = new Map<bigint, bigint>();
  for (let at = 0; at + 16 <= vector.length; at += 16) values.set(vector.readBigUInt64LE(at), vector.readBigUInt64LE(at + 8));
  units = { pageBytes: Number(values.get(6n) ?? 4096n), ticksPerSecond: Number(values.get(17n) ?? 100n) };
  return units;
}

/** Reads the fields after the last closing parenthesis, because the command itself may contain blanks and parentheses. */
function parseStat(text: string): ProcessInfo {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  const fields = text.slice(close + 2).split(" ");
  return {
    pid: Number(text.slice(0, open)),
    name: text.slice(open + 1, close),
    zombie: fields[0] === "Z" || fields[0] === "X",
    sleeping: fields[0] === "S",
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    tty: fields[4] === "0" ? "" : (fields[4] ?? ""),
    start: `${boot()}-${fields[19]}`,
    cpuMs: ((Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])) * 1000) / kernelUnits().ticksPerSecond,
    memoryBytes: Number(fields[21]) * kernelUnits().pageBytes,
  };
}

function psTable(which: string[]): Map<number, ProcessInfo> {
  const ps = spawnSync("ps", [...which, "-o", "pid=,ppid=,pgid=,sess=,tty=,stat=,rss=,time=,lstart=,comm="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  const table = new Map<number, ProcessInfo>();
  for (const line of (ps.stdout ?? "").split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
    if (!match) continue;
    const [, pid, parent, group, session, tty, state, rss, time, start, name] = match as unknown as string[];
    table.set(Number(pid), {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(session) || 0,
      tty: tty === "??" || tty === "?" ? "" : (tty ?? ""),
      zombie: state?.startsWith("Z") ?? false,
      sleeping: /^[SI]/.test(state ?? ""),
      start: start ?? "",
      name: name ?? "",
      cpuMs: clockMs(time ?? ""),
      memoryBytes: Number(rss) * 1024,
    });
  }
  return table;
}

/** Parses `[[dd-]hh:]mm:ss[.cc]` of `ps`. */
function clockMs(text: string): number {
  const [rest = "", days = "0"] = text.split("-").reverse();
  const seconds = rest.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}
