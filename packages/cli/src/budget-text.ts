/** A budget in words. */
import type { BudgetState } from "@holdfast/contract/budget";
import type { BudgetLimit } from "@holdfast/contract/status";
import { formatCost, formatTokens } from "./spent-text.ts";

const AMOUNT: Record<BudgetLimit, (amount: number) => string> = {
  turns: String,
  minutes: (minutes) => String(minutes < 1 ? Math.round(minutes * 100) / 100 : Math.round(minutes * 10) / 10),
  tokens: formatTokens,
  cost: formatCost,
};

const UNIT: Record<BudgetLimit, string> = { turns: " turns", minutes: " minutes", tokens: " tokens", cost: "" };

/** `3 of 10 turns`, `$1.20 of $2.50`, `? of 200k tokens`. */
export function useText({ limit, used, allowed }: { limit: BudgetLimit; used: number | null; allowed: number }): string {
  return `${used === null ? "?" : AMOUNT[limit](used)} of ${AMOUNT[limit](allowed)}${UNIT[limit]}`;
}

export function budgetText({ limits }: BudgetState): string {
  return limits.length === 0 ? "no limits" : limits.map(useText).join(", ");
}

/** What ended it, where that was its budget. */
export function exceededText({ name, budget }: { name: string; budget: BudgetState | null }): string | null {
  const exceeded = budget?.exceeded;
  if (!exceeded) return null;
  return `used up: ${useText(exceeded)}; allow it more: holdfast resume ${name} --budget ${exceeded.limit}=…`;
}
