import { HoldfastError } from "@holdfast/contract/errors";
import { durationMs } from "@holdfast/platform/units";

/** Parses `500ms`, `5s`, `10m`, `2h`, `1d`; a bare number is seconds. */
export function parseDuration(text: string, flag: string): number {
  const ms = durationMs(text);
  if (ms === undefined)
    throw new HoldfastError("usage", `${flag} takes a duration, not ${JSON.stringify(text)}`, { hint: "for example: 500ms, 5s, 10m, 2h" });
  return ms;
}

/** A duration of at least 1ms. */
export function someDuration(text: string, flag: string): number {
  const ms = parseDuration(text, flag);
  if (ms < 1) throw new HoldfastError("usage", `${flag} takes a duration of at least 1ms, not ${JSON.stringify(text)}`);
  return ms;
}

/** For people: `4s`, `12m`, `3h 05m`, `2d 4h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, "0")}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
