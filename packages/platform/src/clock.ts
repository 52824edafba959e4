/**
 * Monotonic clocks. The time of day is for people to read: it jumps when it is corrected, by hand or over the network. Durations and due times are
 * counted since boot, including suspends, and so stay valid in the next process.
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

let bootId: string | undefined;

/** Identifies this boot of the machine (Linux). */
export function boot(): string {
  bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  return bootId;
}

/** The current time of the monotonic clock: boot id and milliseconds since boot. Null if the system does not provide it (not Linux). */
export function bootStamp(afterMs = 0): string | null {
  return process.platform === "linux" ? `${boot()}-${Math.round(uptime() * 1000 + afterMs)}` : null;
}

/** Milliseconds since a stamp of this boot, negative for a future one; undefined for another boot or an invalid stamp. */
export function msSince(stamp: string | null | undefined): number | undefined {
  const ms = stampMs(stamp);
  return ms === undefined || process.platform !== "linux" || !stamp?.startsWith(`${boot()}-`) ? undefined : uptime() * 1000 - ms;
}

/** Milliseconds between boot and a stamp, of any boot. */
export function stampMs(stamp: string | null | undefined): number | undefined {
  const match = /^[0-9a-f]{8}-(\d+)$/.exec(stamp ?? "");
  return match ? Number(match[1]) : undefined;
}

/** Smaller corrections go unnoticed. */
const NOTICEABLE_MS = 1000;

const began = { time: Date.now(), steady: performance.now(), boot: uptime() * 1000 };
let known = { apart: 0, steps: 0 };

/**
 * By how much the time of day was set since this process began; forward is positive. A suspend is not a step: the time of day and the clock since
 * boot both continued, and only the process's own clock stopped.
 */
export function clockSteps(): number {
  const passed = Date.now() - began.time;
  const apart = passed - (performance.now() - began.steady);
  if (Math.abs(apart - known.apart) < NOTICEABLE_MS) return known.steps;
  const steps = Math.round(passed - (uptime() * 1000 - began.boot));
  known = { apart, steps: Math.abs(steps) < NOTICEABLE_MS ? 0 : steps };
  return known.steps;
}
