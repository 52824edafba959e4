import { readFileSync } from "node:fs";

/** How many processes the kernel has killed for want of memory since it started; undefined where it does not tell. */
export function kernelMemoryKills(): number | undefined {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync("/proc/vmstat", "utf8"))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
