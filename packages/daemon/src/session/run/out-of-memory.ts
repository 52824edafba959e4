import { readFileSync } from "node:fs";

/** Number of processes that the kernel has killed for lack of memory since boot; undefined if it does not say. */
export function kernelMemoryKills(): number | undefined {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
