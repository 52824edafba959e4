/** What agents use of models: facts as they are told, and sums of them. Costs are in US dollars. */
import * as z from "zod/mini";
import { RunNumber } from "./ids.ts";
import { Time } from "./session.ts";
import { ContextFill, Spent } from "./spent.ts";
import { USAGE_BY, USAGE_SOURCES } from "./status.ts";

/** Null: not known, which is not 0. */
const tokens = z.nullable(z.int().check(z.nonnegative()));

export const UsageRecord = z.object({
  run: RunNumber,
  /** Of a terminal agent its number. Null: in no turn that anybody knows of. */
  turn: z.nullable(z.string()),
  model: z.nullable(z.string()),
  /** Without what was read from a cache or written to one. */
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  /** What the agent itself says that it cost; null where it does not, and the price list has to tell. */
  cost: z.nullable(z.number().check(z.nonnegative())),
  context: z.nullable(ContextFill),
  source: z.enum(USAGE_SOURCES),
  /** The tokens are counted from the length of the texts. */
  estimated: z.optional(z.boolean()),
  /** What identifies it at its source: told twice, it is recorded once. */
  key: z.nullable(z.string()),
});
export type UsageRecord = z.infer<typeof UsageRecord>;

export const USAGE_EVENTS = {
  /** Kept when its session is removed: what was spent stays spent. So it says whose it was, by the name of then. */
  "usage.recorded": z.extend(UsageRecord, {
    agent: z.string(),
    name: z.string(),
    /** Those it was in then; absent: none. */
    groups: z.optional(z.array(z.string())),
    /** When it was used, where that was before it was recorded. */
    at: z.optional(Time),
    /** Up to where its source was read with it: the next reading begins there. */
    read: z.optional(z.object({ place: z.string(), state: z.string() })),
  }),
};

export const Sums = z.omit(Spent, { context: true });
export type Sums = z.infer<typeof Sums>;

/** A part of what was spent: of a day, an agent, a model, a session, a turn or a group. */
export const UsageRow = z.extend(Sums, {
  /** Null: of none, or of one that nobody knows. */
  key: z.nullable(z.string()),
  /** For people, where the key is an id. */
  label: z.nullable(z.string()),
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsageReport = z.object({
  by: z.enum(USAGE_BY),
  since: z.nullable(Time),
  /** Days in order, turns as they were told of; else those that cost most come first. */
  rows: z.array(UsageRow),
  total: Sums,
  /** Models that were used and have no price, or none of which anybody knows the name. */
  unpriced: z.array(z.nullable(z.string())),
});
export type UsageReport = z.infer<typeof UsageReport>;
