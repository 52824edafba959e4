/** A budget as text. */
import { reachedText, useText } from "@holdfast/contract/usage/amounts";
import type { BudgetState, BudgetUse } from "@holdfast/contract/usage/budget";

export function budgetText({ limits }: BudgetState): string {
  return limits.length === 0 ? "no limits" : limits.map(limitText).join(", ");
}

/** `$1.20 of $2.50 (own: $0.40)`, where child sessions used the rest. */
function limitText(use: BudgetUse): string {
  const { own, used } = use;
  if (own === undefined || own === used) return useText(use);
  const [amount] = useText({ ...use, used: own }).split(" of ");
  return `${useText(use)} (own: ${amount})`;
}

/** The limit that ended the session, if its budget did. */
export function exceededText({ name, budget }: { name: string; budget: BudgetState | null }): string | null {
  const exceeded = budget?.exceeded;
  if (!exceeded) return null;
  const whose = exceeded.of?.name ?? name;
  const of = exceeded.of ? ` of ${whose}` : "";
  return `${reachedText(exceeded)}${of}; allow more: holdfast resume ${whose} --budget ${exceeded.limit}=…`;
}
