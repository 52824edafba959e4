/**
 * The time by which tokens expire. The time of day, but it never goes back: not when it is set back while the daemon runs, nor before the
 * last thing that the journal has when it starts.
 */
import { clockSteps } from "@holdfast/platform";

export function tokenClock({ least, wall = Date.now, steps = clockSteps }: TokenClockOptions): () => number {
  const began = performance.now();
  return () => Math.max(wall() - Math.min(0, steps()), least + performance.now() - began);
}

interface TokenClockOptions {
  /** When the journal's last event happened. */
  least: number;
  wall?: () => number;
  /** By how much the time of day was set since the process began. */
  steps?: () => number;
}
