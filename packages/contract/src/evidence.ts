/** What is known about what an agent is doing, and from where. */
import * as z from "zod/mini";
import { Attention, Time } from "./session.ts";
import { SOURCES, TURNS } from "./status.ts";

/** A missing axis: nothing is said about it. `attention: null`: it wants nobody. */
export const Claim = z.object({
  turn: z.optional(z.enum(TURNS)),
  attention: z.optional(z.nullable(Attention)),
  background: z.optional(z.boolean()),
});
export type Claim = z.infer<typeof Claim>;

/**
 * It claims something about an axis, or nothing; it never says `unknown`: that is the answer when there is no evidence that can be
 * trusted. `at`: when it was so; of a screen, when its last byte came. `what`: what was seen, for people: a hook's name, a rule's name
 * and the line that fitted it. `settled`, of titles and screens: it has stayed like this, and is not a frame of something that moves on.
 * `held`: what the source says stands until it says otherwise, whatever the screen shows.
 */
export const Evidence = z.object({
  source: z.enum(SOURCES),
  at: Time,
  claim: Claim,
  what: z.string(),
  settled: z.optional(z.boolean()),
  held: z.optional(z.boolean()),
});
export type Evidence = z.infer<typeof Evidence>;

/** What is believed of one axis, and by what. */
const believed = <T extends z.ZodMiniType>(value: T) => z.nullable(z.object({ value, evidence: Evidence }));

/** An agent is newer than the version by which the rules for its status were made: they may be stale. */
export const Newer = z.object({ version: z.string(), recorded: z.string() });
export type Newer = z.infer<typeof Newer>;

/** Why a session has the status it has. Null: unknown, nothing that can be trusted says so. `others`: what was seen besides. */
export const Explanation = z.object({
  /** What is there to be told by: `hooks` of the agent, its `state_file`, rules for its `screen`, the `processes` that it leaves. */
  sources: z.array(z.enum(SOURCES)),
  turn: believed(z.enum(TURNS)),
  attention: believed(z.nullable(Attention)),
  background: believed(z.boolean()),
  others: z.array(Evidence),
  /** Files with what its hooks told that could not be taken. */
  unread: z.array(z.string()),
  newer: z.nullable(Newer),
});
export type Explanation = z.infer<typeof Explanation>;
