/** Durations, sizes and numbers of things as people write them. */
const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** `500ms`, `5s`, `10m`, `2h`, `1d` in milliseconds; a number alone is seconds. Undefined: it is no duration. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  return match ? Number(match[1]) * (DURATIONS[match[2] ?? "s"] ?? 1000) : undefined;
}

/** `500M`, `2G`, `1.5 GB`, `64MiB` in bytes, by powers of 1024. Undefined: it is no size. */
export function sizeBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?([KMGT])(?:i?B)?$/i.exec(text);
  return match ? Math.round(Number(match[1]) * (SIZES[match[2]?.toUpperCase() ?? ""] ?? Number.NaN)) : undefined;
}

const AMOUNTS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9 };

/** `200`, `2.5`, `200k`, `1.5M`, by powers of 1000. Undefined: it is no number. */
export function amount(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([kmg])?$/i.exec(text);
  return match ? Math.round(Number(match[1]) * (AMOUNTS[match[2]?.toLowerCase() ?? ""] ?? 1) * 1e6) / 1e6 : undefined;
}

/** `1 session`, `2 sessions`, `0 processes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
