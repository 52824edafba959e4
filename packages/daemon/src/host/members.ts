/**
 * Which processes belong to a run: its program, the processes of its process session or terminal, whatever carries its marker in
 * the environment or is in the run's scope, and all their descendants.
 *
 * The daemon, the keepers and what they started are never part of a run, even when the daemon was started from inside one.
 * What can escape: a process that left the run's process session and terminal, was adopted by init, and scrubbed the marker
 * from its environment.
 */
import { allProcesses, environmentValues, hasScopes, type ProcessInfo, scopeOf } from "@holdfast/platform";
import { SCOPE_PREFIX } from "./host.ts";

export interface ProcessScan {
  table: ReadonlyMap<number, ProcessInfo>;
  /** Everything that may belong to a run. */
  candidates: readonly ProcessInfo[];
  /** HOLDFAST_RUN of those that have it; else of the run whose scope they are in. */
  markers: ReadonlyMap<number, string>;
}

export interface RunProcesses {
  root: { pid: number; start: string };
  marker: string;
  /** It was adopted: others than its own share its terminal and process session, the shell it was typed into above all. */
  treeOnly?: boolean | undefined;
  /** Whether a process belongs to it for another reason. */
  isMember?: ((info: ProcessInfo, scan: ProcessScan) => boolean) | undefined;
  /** Processes that were found to be members before: they stay members when their parents are gone. */
  known?: ReadonlyMap<number, ProcessInfo>;
}

/** One look at all processes; several runs can be read from it. */
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

/** A look that begins after this call, shared with everybody who asks in the same turn: ending a hundred runs at once takes the looks of one. */
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
  // Children of members, down to the leaves; a keeper's subtree is not entered.
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
