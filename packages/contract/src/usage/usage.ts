/** Model usage of agents: reported facts and their sums. Costs are in US dollars. */
import * as z from "zod/mini";
import { RunNumber } from "../ids.ts";
import { Time } from "../session/session.ts";
import { USAGE_BY, USAGE_SOURCES } from "./enums.ts";
import { ContextFill, Spent } from "./spent.ts";

/** Null: not known, which is not 0. */
const tokens = z.nullable(z.int().check(z.nonnegative()));

export const UsageRecord = z.object({
  run: RunNumber,
  /** For a terminal agent, the number of the turn. Null: outside any known turn. */
  turn: z.nullable(z.string()),
  model: z.nullable(z.string()),
  /** Excludes cache reads and writes. */
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  /** The cost as reported by the agent; null if it reports none and the price list applies. */
  cost: z.nullable(z.number().check(z.nonnegative())),
  context: z.nullable(ContextFill),
  source: z.enum(USAGE_SOURCES),
  /** The tokens are estimated from the length of texts. */
  estimated: z.optional(z.boolean()),
  /** Identifies the record at its source, so that a repeated report is recorded once. */
  key: z.nullable(z.string()),
});
export type UsageRecord = z.infer<typeof UsageRecord>;

export const USAGE_EVENTS = {
  /** Kept after its session is removed, so it names the agent and the session as they were. */
  "usage.recorded": z.extend(UsageRecord, {
    agent: z.string(),
    name: z.string(),
    /** The session's groups at that time; absent: none. */
    groups: z.optional(z.array(z.string())),
    /** When the usage occurred, if that was before it was recorded. */
    at: z.optional(Time),
    /** Position up to which the source was read; the next reading begins there. */
    read: z.optional(z.object({ place: z.string(), state: z.string() })),
  }),
};

export const Sums = z.omit(Spent, { context: true });
export type Sums = z.infer<typeof Sums>;

/** Usage of one day, agent, model, session, turn or group. */
export const UsageRow = z.extend(Sums, {
  /** Null: none, or not known. */
  key: z.nullable(z.string()),
  /** Readable name, if the key is an id. */
  label: z.nullable(z.string()),
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsageReport = z.object({
  by: z.enum(USAGE_BY),
  since: z.nullable(Time),
  /** Days in order, turns in the order of their reports; all others by cost, the highest first. */
  rows: z.array(UsageRow),
  total: Sums,
  /** Models in use without a known price; null stands for an unknown model. */
  unpriced: z.array(z.nullable(z.string())),
});
export type UsageReport = z.infer<typeof UsageReport>;
