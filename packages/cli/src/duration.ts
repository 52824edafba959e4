import { HoldfastError } from "@holdfast/contract/errors";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `5s`, `10m`, `2h`, `1d`; a number alone is seconds. */
export function parseDuration(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  if (!match)
    throw new HoldfastError("usage", `${flag} takes a duration, not ${JSON.stringify(text)}`, { hint: "for example: 500ms, 5s, 10m, 2h" });
  return Number(match[1]) * (UNITS[match[2] ?? "s"] ?? 1000);
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
