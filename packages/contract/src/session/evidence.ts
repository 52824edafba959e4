/** Evidence of an agent's activity, and its sources. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Attention, Session, Time } from "./session.ts";
import { SOURCES, TURNS } from "./status.ts";

/** A missing axis: no claim about it. `attention: null`: the agent needs no attention. */
export const Claim = z.object({
  turn: z.optional(z.enum(TURNS)),
  attention: z.optional(z.nullable(Attention)),
  background: z.optional(z.boolean()),
});
export type Claim = z.infer<typeof Claim>;

/**
 * An observation. It makes claims about axes, or none, but never claims `unknown`: the status is unknown if no evidence can be trusted. `at`: when
 * the claim was true; for a screen, when its last byte arrived. `what`: the observation for people, such as a hook's name, or a rule's name and the
 * matching line. `settled`, for titles and screens: the content has stayed the same and is not a frame of an animation. `held`: the claim stands
 * until its source revises it, whatever the screen shows.
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

/** The accepted value of an axis, with its evidence. */
const believed = <T extends z.ZodMiniType>(value: T) => z.nullable(z.object({ value, evidence: Evidence }));

/** The agent is newer than the version its status rules were made for, so the rules may be outdated. */
export const Newer = z.object({ version: z.string(), recorded: z.string() });
export type Newer = z.infer<typeof Newer>;

/** The reasons for a session's status. Null: unknown, without evidence that can be trusted. `others`: further observations. */
export const Explanation = z.object({
  /** Available sources: `hooks` of the agent, its `state_file`, rules for its `screen`, its remaining `processes`. */
  sources: z.array(z.enum(SOURCES)),
  turn: believed(z.enum(TURNS)),
  attention: believed(z.nullable(Attention)),
  background: believed(z.boolean()),
  others: z.array(Evidence),
  /** Files with hook reports that could not be processed. */
  unread: z.array(z.string()),
  newer: z.nullable(Newer),
});
export type Explanation = z.infer<typeof Explanation>;

export const EXPLAIN_ENDPOINTS = {
  explainSession: {
    ...ROUTES.explainSession,
    answeredWithout: ["daemon", "configuration"],
    summary: "Explains a session's status: the value on each axis, its evidence, and other observations.",
    scope: "observer",
    reach: "own",
    reply: z.object({ session: Session, explanation: Explanation }),
    errors: SESSION_ERRORS,
  },
} as const satisfies Record<string, Endpoint>;
