/** What a session may use in all its runs, and what it did when it came near. */
import * as z from "zod/mini";
import { RunNumber, SessionId } from "./ids.ts";
import { BUDGET_LIMITS } from "./status.ts";

const LimitSchema = z.enum(BUDGET_LIMITS);

const whole = z.int().check(z.minimum(1, "a limit of turns or tokens is a whole number of at least 1"));
const amount = z.number().check(z.positive("a limit of minutes or dollars is more than 0"));

/**
 * Turns; minutes in which one of its runs was there; tokens that were read for the first time or written (input, output, what went into a cache;
 * not what came from one again); dollars.
 */
export const Budget = z.object({
  turns: z.optional(whole),
  minutes: z.optional(amount),
  tokens: z.optional(whole),
  cost: z.optional(amount),
});
export type Budget = z.infer<typeof Budget>;

/** Null takes a limit away; what is left out stays as it is, or as configured. */
export const BudgetRequest = z.object({
  turns: z.optional(z.nullable(whole)),
  minutes: z.optional(z.nullable(amount)),
  tokens: z.optional(z.nullable(whole)),
  cost: z.optional(z.nullable(amount)),
});
export type BudgetRequest = z.infer<typeof BudgetRequest>;

const reached = { run: RunNumber, limit: LimitSchema, used: z.number(), allowed: z.number() };

/** The session whose budget it is, where that is not the session itself: one that started it, directly or through others. */
const of = z.optional(z.object({ session: SessionId, name: z.string() }));

export const BUDGET_EVENTS = {
  /** The limits are others from now on. */
  "budget.changed": z.object({ budget: Budget }),
  /** Four fifths of a limit are used; once for each. */
  "budget.warned": z.object(reached),
  /** A limit is reached: the run is about to be ended, and none follows by its policy. */
  "budget.exceeded": z.object({ ...reached, of }),
};

export const BudgetUse = z.object({
  limit: LimitSchema,
  allowed: z.number(),
  /** What is known; null: nothing is. Of tokens and cost with everything that sessions it started have used. */
  used: z.nullable(z.number()),
  /** Without those. A daemon of an older version does not say. */
  own: z.optional(z.nullable(z.number())),
});
export type BudgetUse = z.infer<typeof BudgetUse>;

/** A session's limits, each with what is used of it, and the one that ended it. */
export const BudgetState = z.object({
  limits: z.array(BudgetUse),
  exceeded: z.nullable(z.object({ limit: LimitSchema, used: z.number(), allowed: z.number(), at: z.string(), of })),
});
export type BudgetState = z.infer<typeof BudgetState>;
