/** Computes a session's budget from the request and the configuration. */
import { BUDGET_LIMITS, type Budget, type BudgetRequest, HoldfastError, type SessionKind } from "@holdfast/contract";
import { limitsKeptFor } from "../../agent/budget.ts";
import type { Profile } from "../../agent/profile.ts";

/** Undefined: no limits. A limit that cannot be measured is refused if requested, and dropped if configured. */
export function budgetFor(
  { profile, kind }: { profile: Profile; kind: SessionKind },
  asked: BudgetRequest = {},
  configured: Budget = {},
): Budget | undefined {
  const kept = limitsKeptFor(profile, kind);
  const budget: Budget = {};
  for (const limit of BUDGET_LIMITS) {
    const given = asked[limit];
    if (given != null && !kept.includes(limit)) {
      const isUnpriced = limit === "cost" && profile.ours !== undefined;
      const name = isUnpriced ? `; or set its model, which has a price: [agents.${profile.name}.exec] model = "…"` : "";
      throw new HoldfastError("usage", `${profile.name} does not report its ${WORDS[limit]}, so a limit cannot apply`, {
        hint: `available limits: ${kept.join(", ")}${name}`,
      });
    }
    // Configured limits are for agents: a command may run for days.
    const otherwise = kind === "shell" || !kept.includes(limit) ? undefined : (profile.budget?.[limit] ?? configured[limit]);
    const allowed = given === undefined ? otherwise : (given ?? undefined);
    if (allowed !== undefined) budget[limit] = allowed;
  }
  return Object.keys(budget).length === 0 ? undefined : budget;
}

const WORDS = { turns: "turns", minutes: "minutes", tokens: "tokens", cost: "cost" };

/** Applies the requested changes to a budget. */
export function changedBudget(
  { profile, kind }: { profile: Profile | undefined; kind: SessionKind },
  before: Budget | null,
  asked: BudgetRequest,
): Budget {
  if (profile) budgetFor({ profile, kind }, asked);
  const limits = BUDGET_LIMITS.flatMap((limit) => {
    const given = asked[limit];
    const allowed = given === undefined ? before?.[limit] : (given ?? undefined);
    return allowed === undefined ? [] : [[limit, allowed] as const];
  });
  return Object.fromEntries(limits);
}
