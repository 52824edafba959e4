/** How much of a session's budget is used. Pure. */
import { BUDGET_LIMITS, type Budget, type BudgetLimit, hasEnded, NEAR_LIMIT, type Session } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** A limit and its known use: `used` includes the sessions below, `own` does not. Null: unknown. */
export interface Use {
  limit: BudgetLimit;
  allowed: number;
  used: number | null;
  own: number | null;
}

/** Limits that sessions share with their ancestors. */
export const SHARED: ReadonlySet<BudgetLimit> = new Set<BudgetLimit>(["tokens", "cost"]);

interface Known {
  turns: number;
  ranMs: number;
  spent: Session["spent"];
  /** Including the sessions below; null if those used nothing. */
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

/** The last allowed turn may run to its end. */
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

/** Milliseconds of running until a limit of minutes is near or reached. */
export function nextMinuteMark({ allowed }: Pick<Use, "allowed">, ranMs: number): number {
  const marks = [NEAR_LIMIT * allowed * 60_000, allowed * 60_000].map((mark) => mark - ranMs);
  return Math.min(...marks.filter((ms) => ms > 0), Number.POSITIVE_INFINITY);
}
