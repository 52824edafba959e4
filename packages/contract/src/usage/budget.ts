/** Budgets: limits of a session over all its runs. */
import * as z from "zod/mini";
import { RunNumber, SessionId } from "../ids.ts";
import { BUDGET_LIMITS } from "./enums.ts";

const LimitSchema = z.enum(BUDGET_LIMITS);

const whole = z.int().check(z.minimum(1, "a limit of turns or tokens is a whole number of at least 1"));
const amount = z.number().check(z.positive("a limit of minutes or dollars is more than 0"));

/**
 * Limits: turns; minutes with a run; tokens that are read for the first time or written (input, output and cache writes, but not cache reads); US
 * dollars.
 */
export const Budget = z.object({
  turns: z.optional(whole),
  minutes: z.optional(amount),
  tokens: z.optional(whole),
  cost: z.optional(amount),
});
export type Budget = z.infer<typeof Budget>;

/** Null removes a limit. An omitted limit stays as it is, or as configured. */
export const BudgetRequest = z.object({
  turns: z.optional(z.nullable(whole)),
  minutes: z.optional(z.nullable(amount)),
  tokens: z.optional(z.nullable(whole)),
  cost: z.optional(z.nullable(amount)),
});
export type BudgetRequest = z.infer<typeof BudgetRequest>;

const reached = { run: RunNumber, limit: LimitSchema, used: z.number(), allowed: z.number() };

/** The ancestor session that owns the exceeded budget, if it is not the session itself. */
const of = z.optional(z.object({ session: SessionId, name: z.string() }));

export const BUDGET_EVENTS = {
  /** The budget was changed. */
  "budget.changed": z.object({ budget: Budget }),
  /** Four fifths of a limit are used. Recorded once for each limit. */
  "budget.warned": z.object(reached),
  /** A limit is reached: the run is about to be stopped, and is not restarted. */
  "budget.exceeded": z.object({ ...reached, of }),
};

export const BudgetUse = z.object({
  limit: LimitSchema,
  allowed: z.number(),
  /** The known usage; null if nothing is known. Tokens and cost include those of sessions that the session started. */
  used: z.nullable(z.number()),
  /** Usage without those sessions. Older daemons omit it. */
  own: z.optional(z.nullable(z.number())),
});
export type BudgetUse = z.infer<typeof BudgetUse>;

/** A session's limits with their usage, and the limit that ended the session. */
export const BudgetState = z.object({
  limits: z.array(BudgetUse),
  exceeded: z.nullable(z.object({ limit: LimitSchema, used: z.number(), allowed: z.number(), at: z.string(), of })),
});
export type BudgetState = z.infer<typeof BudgetState>;
