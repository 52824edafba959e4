/**
 * Which processes belong to a run: its program, the processes of its process session or terminal, every process with its marker in the environment
 * or in the run's scope, and all their descendants.
 *
 * The daemon, the keepers and their children are never part of a run, even if the daemon was started inside one. A process escapes only if it left
 * the run's process session and terminal, was adopted by init, and removed the marker from its environment.
 */
import { allProcesses, environmentValues, hasScopes, type ProcessInfo, scopeOf } from "@holdfast/platform";
import { SCOPE_PREFIX } from "./host.ts";

export interface ProcessScan {
  table: ReadonlyMap<number, ProcessInfo>;
  /** Every process that may belong to a run. */
  candidates: readonly ProcessInfo[];
  /** The HOLDFAST_RUN marker of each process that is in a run's scope or has the variable; the scope wins. */
  markers: ReadonlyMap<number, string>;
}

export interface RunProcesses {
  root: { pid: number; start: string };
  marker: string;
  /** Set for adopted runs: other processes share the terminal and the process session, above all the shell that started the agent. */
  treeOnly?: boolean | undefined;
  /** True if a process belongs to the run for another reason. */
  isMember?: ((info: ProcessInfo, scan: ProcessScan) => boolean) | undefined;
  /** Processes found to be members before. They stay members after their parents end. */
  known?: ReadonlyMap<number, ProcessInfo>;
}

/** One scan of all processes, usable for several runs. */
export function scanProcesses(keepers: readonly number[]): ProcessScan {
  const table = allProcesses();
  const spared = new Set([...keepers, process.pid, 1]);
  const candidates = [...table.values()].filter((info) => !info.zombie && !spared.has(info.pid));
  const pids = candidates.map((info) => info.pid);
  const markers = environmentValues("HOLDFAST_RUN", pids);
  if (hasScopes()) for (const [pid, marker] of scopeMarkers(pids)) markers.set(pid, marker);
  return { table, candidates, markers };
}

function* scopeMarkers(pids: readonly number[]): Iterable<[number, string]> {
  for (const pid of pids) {
    const unit = scopeOf(pid);
    if (unit?.startsWith(SCOPE_PREFIX)) yield [pid, unit.slice(SCOPE_PREFIX.length)];
  }
}

const asked = new Map<string, Promise<ProcessScan>>();

/** A scan that begins after this call. Callers in the same turn of the event loop share it, so ending a hundred runs costs the scans of one. */
export function scanTogether(keepers: readonly number[]): Promise<ProcessScan> {
  const key = keepers.join();
  let scan = asked.get(key);
  if (!scan) {
    scan = new Promise((resolve) => setImmediate(resolve)).then(() => {
      asked.delete(key);
      return scanProcesses(keepers);
    });
    asked.set(key, scan);
  }
  return scan;
}

export function membersOf(scan: ProcessScan, run: RunProcesses): ProcessInfo[] {
  const root = scan.table.get(run.root.pid);
  const rootLives = root?.start === run.root.start;
  const members = new Set<number>();
  for (const info of scan.candidates) {
    const isKnown = run.known?.get(info.pid)?.start === info.start;
    const isRoot = rootLives && info.pid === run.root.pid;
    const sharesSession = !run.treeOnly && rootLives && info.session === run.root.pid;
    const sharesTerminal = !run.treeOnly && rootLives && root !== undefined && root.tty !== "" && info.tty === root.tty;
    const isMarked = scan.markers.get(info.pid) === run.marker;
    if (isKnown || isRoot || sharesSession || sharesTerminal || isMarked || run.isMember?.(info, scan)) members.add(info.pid);
  }
  // Add children of members, down to the leaves. Keepers are no candidates, so their subtrees stay out.
  for (let grew = true; grew; ) {
    grew = false;
    for (const info of scan.candidates) {
      if (members.has(info.pid) || !members.has(info.parent)) continue;
      members.add(info.pid);
      grew = true;
    }
  }
  return scan.candidates.filter((info) => members.has(info.pid));
}
