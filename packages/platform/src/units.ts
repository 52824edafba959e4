/** Durations, sizes and amounts as people write them. */
const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Parses `500ms`, `5s`, `10m`, `2h`, `1d` to milliseconds; a plain number is seconds. Undefined if invalid. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  return match ? Number(match[1]) * (DURATIONS[match[2] ?? "s"] ?? 1000) : undefined;
}

/** Parses `500M`, `2G`, `1.5 GB`, `64MiB` to bytes, by powers of 1024. Undefined if invalid. */
export function sizeBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?([KMGT])(?:i?B)?$/i.exec(text);
  return match ? Math.round(Number(match[1]) * (SIZES[match[2]?.toUpperCase() ?? ""] ?? Number.NaN)) : undefined;
}

const AMOUNTS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9 };

/** Parses `200`, `2.5`, `200k`, `1.5M`, by powers of 1000. Undefined if invalid. */
export function amount(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([kmg])?$/i.exec(text);
  return match ? Math.round(Number(match[1]) * (AMOUNTS[match[2]?.toLowerCase() ?? ""] ?? 1) * 1e6) / 1e6 : undefined;
}

/** `1 session`, `2 sessions`, `0 processes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
