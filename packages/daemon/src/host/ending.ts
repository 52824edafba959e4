/**
 * Ends every process of a run, whatever it did to get away: descendants, processes of its process session or terminal, and
 * processes with its marker in their environment. They are frozen while we look, so that a program that forks as fast as we
 * scan does not win; then SIGTERM, a grace period, SIGKILL. Each pid is checked with its start time before each signal.
 *
 * The daemon, the keepers and what they started are never part of a run, even when the daemon was started from inside one.
 * What can escape: a process that left the run's process session and terminal, was adopted by init, and scrubbed the marker
 * from its environment.
 */
import { setTimeout as delay } from "node:timers/promises";
import { allProcesses, isSameProcess, type ProcessInfo, signalProcess, withEnvironmentEntry } from "@holdfast/platform";

export interface Ended {
  pid: number;
  name: string;
  /** The last signal it needed. */
  signal: "SIGTERM" | "SIGKILL";
}

const FREEZE_ROUNDS = 40;
const KILL_ROUNDS = 200;

export async function endProcesses(options: {
  root: { pid: number; start: string };
  marker: string;
  keepers: number[];
  graceMs: number;
}): Promise<{
  ended: Ended[];
  left: ProcessInfo[];
}> {
  const known = new Map<number, ProcessInfo>();
  const scan = () => membersOf({ ...options, known });

  for (let round = 0; round < FREEZE_ROUNDS; round++) {
    const fresh = scan().filter((info) => known.get(info.pid)?.start !== info.start);
    if (fresh.length === 0) break;
    for (const info of fresh) {
      known.set(info.pid, info);
      signalProcess(info.pid, info.start, "SIGSTOP");
    }
  }
  const ended = new Map<number, Ended>();
  const all = (signal: NodeJS.Signals) => {
    for (const info of known.values()) signalProcess(info.pid, info.start, signal);
  };
  for (const info of known.values()) ended.set(info.pid, { pid: info.pid, name: info.name, signal: "SIGTERM" });
  all("SIGTERM");
  // An interactive shell ignores SIGTERM, but goes when its terminal hangs up.
  signalProcess(options.root.pid, options.root.start, "SIGHUP");
  all("SIGCONT");

  await gone(known, options.graceMs);
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const left = scan();
    if (left.length === 0) return { ended: [...ended.values()], left: [] };
    for (const info of left) {
      known.set(info.pid, info);
      ended.set(info.pid, { pid: info.pid, name: info.name, signal: "SIGKILL" });
      signalProcess(info.pid, info.start, "SIGKILL");
    }
    await delay(round < 10 ? 5 : 25);
  }
  return { ended: [...ended.values()], left: scan() };
}

/** Resolves when all are gone or the time is over. */
async function gone(known: Map<number, ProcessInfo>, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  let pause = 2;
  while ([...known.values()].some((info) => isSameProcess(info.pid, info.start)) && performance.now() < deadline) {
    await delay(Math.min(pause, Math.max(1, deadline - performance.now())));
    pause = Math.min(pause * 1.5, 50);
  }
}

function membersOf(options: {
  root: { pid: number; start: string };
  marker: string;
  keepers: number[];
  known: Map<number, ProcessInfo>;
}): ProcessInfo[] {
  const table = allProcesses();
  const spared = new Set([...options.keepers, process.pid, 1]);
  const candidates = [...table.values()].filter((info) => !info.zombie && !spared.has(info.pid));
  const marked = withEnvironmentEntry(
    `HOLDFAST_RUN=${options.marker}`,
    candidates.map((info) => info.pid),
  );
  const members = new Set<number>();
  const root = table.get(options.root.pid);
  const rootLives = root?.start === options.root.start;
  for (const info of candidates) {
    const isKnown = options.known.get(info.pid)?.start === info.start;
    const isRoot = rootLives && info.pid === options.root.pid;
    const sharesSession = rootLives && info.session === options.root.pid;
    const sharesTerminal = rootLives && root !== undefined && root.tty !== "" && info.tty === root.tty;
    if (isKnown || isRoot || sharesSession || sharesTerminal || marked.has(info.pid)) members.add(info.pid);
  }
  // Children of members, down to the leaves; a keeper's subtree is not entered.
  for (let grew = true; grew; ) {
    grew = false;
    for (const info of candidates) {
      if (members.has(info.pid) || !members.has(info.parent)) continue;
      members.add(info.pid);
      grew = true;
    }
  }
  return candidates.filter((info) => members.has(info.pid));
}
