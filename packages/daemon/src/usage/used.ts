/** What of a session's budget is used: pure, but for the clock. */
import { BUDGET_LIMITS, type Budget, type BudgetLimit, hasEnded, type Session } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Of a limit: what it allows and what is known to be used; null: nothing is known. */
export interface Use {
  limit: BudgetLimit;
  allowed: number;
  used: number | null;
}

/** When it is said that a limit is near. */
const NEAR = 0.8;

export function usesOf(budget: Budget, { turns, spent, ranMs }: { turns: number; spent: Session["spent"]; ranMs: number }): Use[] {
  const used: Record<BudgetLimit, number | null> = {
    turns,
    minutes: ranMs / 60_000,
    tokens: spent && spent.input + spent.output + spent.cacheWrite,
    cost: spent?.cost ?? null,
  };
  return BUDGET_LIMITS.flatMap((limit) => {
    const allowed = budget[limit];
    return allowed === undefined ? [] : [{ limit, allowed, used: used[limit] }];
  });
}

/** The last turn that is allowed may be worked to its end. */
export function isReached({ limit, allowed, used }: Use, record: Pick<SessionRecord, "status" | "standing">): boolean {
  if (used === null) return false;
  if (limit === "turns" && isWorking(record)) return used > allowed;
  return used >= allowed;
}

export function isNear({ allowed, used }: Use): boolean {
  return used !== null && used >= NEAR * allowed;
}

export function isWorking({ status, standing }: Pick<SessionRecord, "status" | "standing">): boolean {
  return !hasEnded(status) && standing?.turn === "working";
}

/** In how many milliseconds, if it runs on, a limit of minutes is near, or reached. */
export function nextMinuteMark({ allowed }: Use, ranMs: number): number {
  const marks = [NEAR * allowed * 60_000, allowed * 60_000].map((mark) => mark - ranMs);
  return Math.min(...marks.filter((ms) => ms > 0), Number.POSITIVE_INFINITY);
}

export function describeUse({ limit, allowed, used }: { limit: BudgetLimit; allowed: number; used: number }): string {
  if (limit === "cost") return `$${used.toFixed(2)} of $${allowed.toFixed(2)}`;
  const hundredths = (amount: number) => Math.round(amount * 100) / 100;
  const unit = allowed === 1 ? limit.slice(0, -1) : limit;
  return `${hundredths(used)} of ${hundredths(allowed)} ${unit}`;
}
