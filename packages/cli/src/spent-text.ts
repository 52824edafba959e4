/** Tokens and costs in words. What is not known is a question mark, and a sum that lacks something says so. */
import type { Spent } from "@holdfast/contract/spent";
import type { Sums } from "@holdfast/contract/usage";

/** `950`, `12.3k`, `200k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(count);
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return `${scaled < 99.95 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}

/** `$1.20`; of less than a cent the first two digits that count. */
export function formatCost(dollars: number): string {
  if (dollars === 0 || dollars >= 0.01) return `$${dollars.toFixed(2)}`;
  if (dollars < 1e-6) return "<$0.000001";
  return `$${dollars.toFixed(Math.min(6, 1 - Math.floor(Math.log10(dollars))))}`;
}

/** All that was read for the first time or written: what comes from a cache again is told apart. */
export function tokensOf({ input, output, cacheWrite }: Sums): number {
  return input + output + cacheWrite;
}

/** For a column: `?`, `≥12k`, `12k`. */
export function tokensCell(count: number, { unknownTokens }: Sums): string {
  if (unknownTokens === 0) return formatTokens(count);
  return count === 0 ? "?" : `≥${formatTokens(count)}`;
}

/** Likewise: `?`, `≥$1.20`, `$1.20`. */
export function costCell({ cost, unknownCosts }: Sums): string {
  if (cost === null) return "?";
  return unknownCosts === 0 ? formatCost(cost) : `≥${formatCost(cost)}`;
}

/** `at least $1.20, 3 turns of unknown cost`. */
export function costText({ cost, unknownCosts }: Sums): string {
  const unknown = `${turns(unknownCosts)} of unknown cost`;
  if (cost === null) return unknown;
  return unknownCosts === 0 ? formatCost(cost) : `at least ${formatCost(cost)}, ${unknown}`;
}

/** `12.3k in, 4.1k out, 200k read from a cache`. */
export function tokensText(spent: Sums): string {
  const { input, output, cacheRead, cacheWrite, unknownTokens } = spent;
  const parts = [
    `${formatTokens(input)} in`,
    `${formatTokens(output)} out`,
    ...(cacheWrite > 0 ? [`${formatTokens(cacheWrite)} into a cache`] : []),
    ...(cacheRead > 0 ? [`${formatTokens(cacheRead)} from a cache`] : []),
  ];
  const text = parts.join(", ");
  return unknownTokens === 0 ? text : `at least ${text}; ${turns(unknownTokens)} did not tell all`;
}

/** `45k of 200k (22 %)`. */
export function contextText({ used, size }: NonNullable<Spent["context"]>): string {
  return size === 0 ? formatTokens(used) : `${formatTokens(used)} of ${formatTokens(size)} (${Math.round((used / size) * 100)} %)`;
}

function turns(count: number): string {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
