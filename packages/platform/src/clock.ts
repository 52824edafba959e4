/**
 * Clocks that nobody sets. The time of day is for people to read: it jumps when it is corrected, by hand or by the network. How long
 * something took, and when something is due, is counted since boot, suspends included, and so also holds for the next process of ours.
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

let bootId: string | undefined;

/** Names this boot of the machine (Linux). */
export function boot(): string {
  bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  return bootId;
}

/** Now, on the clock that nobody sets: boot and milliseconds since. Null where the system does not tell (not Linux). */
export function bootStamp(afterMs = 0): string | null {
  return process.platform === "linux" ? `${boot()}-${Math.round(uptime() * 1000 + afterMs)}` : null;
}

/** How long ago a stamp of this boot was; negative when it is to come; undefined when it is of another boot or no stamp. */
export function msSince(stamp: string | null | undefined): number | undefined {
  const ms = stampMs(stamp);
  return ms === undefined || process.platform !== "linux" || !stamp?.startsWith(`${boot()}-`) ? undefined : uptime() * 1000 - ms;
}

/** Milliseconds between boot and a stamp, whichever boot that was. */
export function stampMs(stamp: string | null | undefined): number | undefined {
  const match = /^[0-9a-f]{8}-(\d+)$/.exec(stamp ?? "");
  return match ? Number(match[1]) : undefined;
}

/** Less is a correction that nobody notices. */
const NOTICEABLE_MS = 1000;

const began = { time: Date.now(), steady: performance.now(), boot: uptime() * 1000 };
let known = { apart: 0, steps: 0 };

/**
 * By how much the time of day has been set since this process began; forward is positive. A suspend is not a step: the time of day
 * and the clock since boot both went on, and only the process's own stood still.
 */
export function clockSteps(): number {
  const passed = Date.now() - began.time;
  const apart = passed - (performance.now() - began.steady);
  if (Math.abs(apart - known.apart) < NOTICEABLE_MS) return known.steps;
  const steps = Math.round(passed - (uptime() * 1000 - began.boot));
  known = { apart, steps: Math.abs(steps) < NOTICEABLE_MS ? 0 : steps };
  return known.steps;
}
