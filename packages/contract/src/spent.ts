/** What was used of models, summed up. Apart from usage.ts, so that a session can say it of itself. */
import * as z from "zod/mini";

/** How full the model's window is: of `size` tokens, `used`. */
export const ContextFill = z.object({ used: z.int(), size: z.int() });
export type ContextFill = z.infer<typeof ContextFill>;

/**
 * Sums of what is known. `input` does not count what was read from a cache or written to one. Of `turns` turns, `unknownTokens` did not tell
 * all their tokens, and of `unknownCosts` nobody knows what they cost: with any, the sum is the least that it can be. `cost` is in US
 * dollars; null: of none of them anything is known.
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
  /** Some of the tokens are counted from the length of the texts, because an agent does not tell them. */
  estimated: z.boolean(),
  /** As it was last told; null: it was not. */
  context: z.nullable(ContextFill),
});
export type Spent = z.infer<typeof Spent>;
