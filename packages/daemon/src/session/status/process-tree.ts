import type { ProcessInfo } from "@holdfast/platform";

export type Processes = ReadonlyMap<number, ProcessInfo>;

export function ancestorsOf(info: ProcessInfo, processes: Processes): ProcessInfo[] {
  const above: ProcessInfo[] = [];
  for (let at = processes.get(info.parent); at && !above.includes(at); at = processes.get(at.parent)) above.push(at);
  return above;
}

/** Children first, then the descendants of each child. */
export function descendantsOf(pid: number, processes: Processes): ProcessInfo[] {
  const children = [...processes.values()].filter(({ parent, zombie }) => parent === pid && !zombie);
  return [...children, ...children.flatMap((child) => descendantsOf(child.pid, processes))];
}
