/** Tokens, costs and limits as text, the same everywhere. Without zod, because every program with output for people loads this file. */
import type { BudgetLimit } from "./enums.ts";

/** `950`, `12.3k`, `200k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(count);
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return `${scaled < 99.95 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.round(scaled)}${unit}`;
}

/** `$1.20`; below one cent, the first two significant digits. */
export function formatCost(dollars: number): string {
  if (dollars === 0 || dollars >= 0.01) return `$${dollars.toFixed(2)}`;
  if (dollars < 1e-6) return "<$0.000001";
  return `$${dollars.toFixed(Math.min(6, 1 - Math.floor(Math.log10(dollars))))}`;
}

const AMOUNT: Record<BudgetLimit, (amount: number) => string> = {
  turns: String,
  minutes: (minutes) => String(minutes < 1 ? Math.round(minutes * 100) / 100 : Math.round(minutes * 10) / 10),
  tokens: formatTokens,
  cost: formatCost,
};

const UNIT: Record<BudgetLimit, string> = { turns: " turns", minutes: " minutes", tokens: " tokens", cost: "" };
const NAME: Record<BudgetLimit, string> = { turns: "turn", minutes: "minute", tokens: "token", cost: "cost" };

/** Share of a limit at which people and agents are warned. */
export const NEAR_LIMIT = 0.8;

interface Used {
  limit: BudgetLimit;
  allowed: number;
  used: number;
}

/** `3 of 10 turns`, `$1.20 of $2.50`, `? of 200k tokens`. */
export function useText({ limit, used, allowed }: { limit: BudgetLimit; used: number | null; allowed: number }): string {
  return `${used === null ? "?" : AMOUNT[limit](used)} of ${AMOUNT[limit](allowed)}${UNIT[limit]}`;
}

/** `cost limit $1.00 reached ($1.02 used)`. */
export function reachedText({ limit, allowed, used }: Used): string {
  return `${NAME[limit]} limit ${AMOUNT[limit](allowed)} reached (${AMOUNT[limit](used)} used)`;
}

/** `82 % of the cost limit used ($0.82 of $1.00)`. */
export function nearText(use: Used): string {
  return `${Math.floor((use.used / use.allowed) * 100)} % of the ${NAME[use.limit]} limit used (${useText(use)})`;
}

/** Suggests a higher limit, with the same amount again beyond the usage. A lower limit would be refused again. */
export function moreText({ limit, allowed, used }: Used): string {
  const more = Math.max(allowed * 2, used + allowed);
  const rounded = (amount: number) => Math.round(amount * 1e6) / 1e6;
  if (limit === "cost") return (Math.ceil(rounded(more * 100)) / 100).toFixed(2);
  return more >= 10_000 ? `${Math.ceil(more / 1000)}k` : String(Math.ceil(rounded(more)));
}
