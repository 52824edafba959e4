/** Facts from the kernel about a process; Linux only, like the product tests. */
import { readFileSync, readlinkSync } from "node:fs";
import { inspect } from "@holdfast/platform";

export function cwdOf(pid: number): string {
  return readlinkSync(`/proc/${pid}/cwd`);
}

/** The environment a process was started with. */
export function environmentOf(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  return Object.fromEntries(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
}

export function lives(pid: number): boolean {
  const info = inspect(pid);
  return info !== undefined && !info.zombie;
}

export function residentBytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return pages * 4096;
}

/** Its peak memory. */
export function mostResidentBytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}
