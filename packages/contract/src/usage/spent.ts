/** Totals of model usage. Separate from usage.ts, so that session.ts can use it. */
import * as z from "zod/mini";

/** Use of the model's context window: `used` of `size` tokens. */
export const ContextFill = z.object({ used: z.int(), size: z.int() });
export type ContextFill = z.infer<typeof ContextFill>;

/**
 * Sums of known usage. `input` excludes cache reads and writes. Of `turns` turns, `unknownTokens` did not report all their tokens, and the cost of
 * `unknownCosts` is not known; the sums are then lower bounds. `cost` is in US dollars; null: no cost is known.
 */
export const Spent = z.object({
  turns: z.int(),
  input: z.int(),
  output: z.int(),
  cacheRead: z.int(),
  cacheWrite: z.int(),
  unknownTokens: z.int(),
  cost: z.nullable(z.number()),
  unknownCosts: z.int(),
  /** Some tokens are estimated from the length of texts, because the agent does not report them. */
  estimated: z.boolean(),
  /** The last report; null: none. */
  context: z.nullable(ContextFill),
});
export type Spent = z.infer<typeof Spent>;
