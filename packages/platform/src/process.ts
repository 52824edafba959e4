/**
 * Processes by pid AND start time: a pid alone names whatever runs under it now. Nothing of ours signals a pid without
 * checking that it is still the process it was. Linux reads /proc; elsewhere `ps` is asked.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  session: number;
  tty: string;
  zombie: boolean;
  /** Waiting for something, as opposed to running or being able to. */
  sleeping: boolean;
  /** Together with the pid, names one process for ever: boot and clock ticks on Linux, date of start elsewhere. */
  start: string;
  name: string;
}

const linux = process.platform === "linux";

/** The process that has this pid now, or undefined when there is none. */
export function inspect(pid: number): ProcessInfo | undefined {
  if (!linux) return psTable(["-p", String(pid)]).get(pid);
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** True only for the very process that was meant; a zombie counts as gone. */
export function isSameProcess(pid: number, start: string): boolean {
  const now = inspect(pid);
  return now !== undefined && !now.zombie && now.start === start;
}

/** Sends the signal if that very process still runs; says whether it did. */
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

/** Pids that were started with `NAME=value` in their environment; those whose environment cannot be read are left out. */
export function withEnvironmentEntry(entry: string, pids: Iterable<number>): Set<number> {
  const found = new Set<number>();
  if (!linux) {
    const ps = spawnSync("ps", ["-A", "-E", "-ww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 1 << 28 });
    const wanted = new Set(pids);
    for (const line of (ps.stdout ?? "").split("\n")) {
      const pid = Number.parseInt(line, 10);
      if (wanted.has(pid) && `${line} `.includes(` ${entry} `)) found.add(pid);
    }
    return found;
  }
  const needle = `\0${Buffer.from(entry).toString("latin1")}\0`;
  for (const pid of pids) {
    try {
      if (`\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(needle)) found.add(pid);
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
  return found;
}

/** The words a process was started with; none when they cannot be read. A program may have changed them since. */
export function argumentsOf(pid: number): string[] {
  if (!linux) return (spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "").trim().split(/\s+/);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

let bootId: string | undefined;

function boot(): string {
  bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  return bootId;
}

/** Fields after the command's closing parenthesis: the command itself may contain blanks and parentheses. */
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
  };
}

function psTable(which: string[]): Map<number, ProcessInfo> {
  const ps = spawnSync("ps", [...which, "-o", "pid=,ppid=,pgid=,sess=,tty=,stat=,lstart=,comm="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  const table = new Map<number, ProcessInfo>();
  for (const line of (ps.stdout ?? "").split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
    if (!match) continue;
    const [, pid, parent, group, session, tty, state, start, name] = match as unknown as string[];
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
    });
  }
  return table;
}
