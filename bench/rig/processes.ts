/** The cost of running processes from /proc, in nanoseconds: ticks are too coarse for a hundred idle processes. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** CPU time so far, in ms, of all current threads of the processes. */
export function cpuTime(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + threads(pid).reduce((total, thread) => total + runTime(`/proc/${pid}/task/${thread}`), 0), 0);
}

/** Each group's share of one core during that time, in %. */
export async function coreShare<K extends string>(groups: Readonly<Record<K, readonly number[]>>, ms: number): Promise<Record<K, number>> {
  const names = Object.keys(groups) as K[];
  const before = names.map((name) => cpuTime(groups[name]));
  const began = performance.now();
  await delay(ms);
  const passed = performance.now() - began;
  return Object.fromEntries(names.map((name, index) => [name, (100 * (cpuTime(groups[name]) - (before[index] ?? 0))) / passed])) as Record<
    K,
    number
  >;
}

export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}

function threads(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`);
}

function runTime(path: string): number {
  try {
    return Number(readFileSync(`${path}/schedstat`, "latin1").split(" ")[0]) / 1e6;
  } catch {
    return 0;
  }
}
