/**
 * The clock by which tokens expire: the time of day, except that it never goes back. It ignores a clock that is set back while the daemon
 * runs, and starts no earlier than the journal's last event.
 */
import { clockSteps } from "@holdfast/platform";

export function tokenClock({ least, wall = Date.now, steps = clockSteps }: TokenClockOptions): () => number {
  const began = performance.now();
  return () => Math.max(wall() - Math.min(0, steps()), least + performance.now() - began);
}

interface TokenClockOptions {
  /** The time of the journal's last event. */
  least: number;
  wall?: () => number;
  /** The sum of all changes to the time of day since the process began. */
  steps?: () => number;
}
