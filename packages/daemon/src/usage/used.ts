/** What of a session's budget is used: pure, but for the clock. */
import { BUDGET_LIMITS, type Budget, type BudgetLimit, hasEnded, NEAR_LIMIT, type Session } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Of a limit: what it allows and what is known to be used, with and without the sessions that it started; null: nothing is known. */
export interface Use {
  limit: BudgetLimit;
  allowed: number;
  used: number | null;
  own: number | null;
}

/** Limits that sessions share with those who started them. */
export const SHARED: ReadonlySet<BudgetLimit> = new Set<BudgetLimit>(["tokens", "cost"]);

interface Known {
  turns: number;
  ranMs: number;
  spent: Session["spent"];
  /** With the sessions that it started; null: they used nothing. */
  withChildren: Session["spent"];
}

export function usesOf(budget: Budget, { turns, spent, withChildren, ranMs }: Known): Use[] {
  const amounts = (of: Session["spent"]): Record<BudgetLimit, number | null> => ({
    turns,
    minutes: ranMs / 60_000,
    tokens: of && of.input + of.output + of.cacheWrite,
    cost: of?.cost ?? null,
  });
  const [own, used] = [amounts(spent), amounts(withChildren ?? spent)];
  return BUDGET_LIMITS.flatMap((limit) => {
    const allowed = budget[limit];
    return allowed === undefined ? [] : [{ limit, allowed, used: used[limit], own: own[limit] }];
  });
}

/** The last turn that is allowed may be worked to its end. */
export function isReached({ limit, allowed, used }: Omit<Use, "own">, record: Pick<SessionRecord, "status" | "standing">): boolean {
  if (used === null) return false;
  if (limit === "turns" && isWorking(record)) return used > allowed;
  return used >= allowed;
}

export function isNear({ allowed, used }: Pick<Use, "allowed" | "used">): boolean {
  return used !== null && used >= NEAR_LIMIT * allowed;
}

export function isWorking({ status, standing }: Pick<SessionRecord, "status" | "standing">): boolean {
  return !hasEnded(status) && standing?.turn === "working";
}

/** In how many milliseconds, if it runs on, a limit of minutes is near, or reached. */
export function nextMinuteMark({ allowed }: Pick<Use, "allowed">, ranMs: number): number {
  const marks = [NEAR_LIMIT * allowed * 60_000, allowed * 60_000].map((mark) => mark - ranMs);
  return Math.min(...marks.filter((ms) => ms > 0), Number.POSITIVE_INFINITY);
}
