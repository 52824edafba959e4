/** Tokens and costs as text. An unknown value is a question mark, and an incomplete sum is marked. */
import { formatCost, formatTokens } from "@holdfast/contract/usage/amounts";
import type { Spent } from "@holdfast/contract/usage/spent";
import type { Sums } from "@holdfast/contract/usage/usage";

export { formatCost, formatTokens };

/** Tokens read for the first time or written; cache reads are counted separately. */
export function tokensOf({ input, output, cacheWrite }: Sums): number {
  return input + output + cacheWrite;
}

/** For a column: `?`, `≥12k`, `~12k` if estimated, `12k`. */
export function tokensCell(count: number, { unknownTokens, estimated }: Sums): string {
  if (unknownTokens > 0 && count === 0) return "?";
  return `${marks(unknownTokens > 0, estimated)}${formatTokens(count)}`;
}

/** The same for costs: `?`, `≥$1.20`, `~$1.20`, `$1.20`. */
export function costCell({ cost, unknownCosts, estimated }: Sums): string {
  return cost === null ? "?" : `${marks(unknownCosts > 0, estimated)}${formatCost(cost)}`;
}

function marks(lacksSome: boolean, estimated: boolean): string {
  return `${lacksSome ? "≥" : ""}${estimated ? "~" : ""}`;
}

/** `at least $1.20, 3 turns of unknown cost`; `$1.20 (estimated)`. */
export function costText({ cost, unknownCosts, estimated }: Sums): string {
  const unknown = `${turns(unknownCosts)} of unknown cost`;
  if (cost === null) return unknown;
  const known = `${formatCost(cost)}${estimated ? " (estimated)" : ""}`;
  return unknownCosts === 0 ? known : `at least ${known}, ${unknown}`;
}

/** `12.3k in, 4.1k out, 200k read from a cache`. */
export function tokensText(spent: Sums): string {
  const { input, output, cacheRead, cacheWrite, unknownTokens, estimated } = spent;
  const parts = [
    `${formatTokens(input)} in`,
    `${formatTokens(output)} out`,
    ...(cacheWrite > 0 ? [`${formatTokens(cacheWrite)} into a cache`] : []),
    ...(cacheRead > 0 ? [`${formatTokens(cacheRead)} from a cache`] : []),
  ];
  const text = `${parts.join(", ")}${estimated ? " (estimated)" : ""}`;
  return unknownTokens === 0 ? text : `at least ${text}; ${turns(unknownTokens)} did not report all tokens`;
}

/** `45k of 200k (22 %)`. */
export function contextText({ used, size }: NonNullable<Spent["context"]>): string {
  return size === 0 ? formatTokens(used) : `${formatTokens(used)} of ${formatTokens(size)} (${Math.round((used / size) * 100)} %)`;
}

function turns(count: number): string {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
