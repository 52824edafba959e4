/** Approvals: permission requests and questions of agents, and their outcome. */
import * as z from "zod/mini";
import { FileChange } from "../conversation/transcript.ts";
import { Principal, RunNumber, SessionId } from "../ids.ts";
import { Time } from "../session/session.ts";
import { APPROVAL_CHANNELS, APPROVAL_STATUSES, DECISIONS, INBOX_FOR, RESOLVED } from "./enums.ts";

export const DecisionSchema = z.enum(DECISIONS);
export const ChannelSchema = z.enum(APPROVAL_CHANNELS);

/**
 * A request as the agent made it. `tool` and `input` are the agent's own; null if only its screen shows the request. `text` is one line derived from
 * them. `expiresAt`: when the agent stops waiting for the inbox, or null; `otherwise`: what it does then. `reasons`: true if the agent receives the
 * reason of a denial.
 */
export const Asked = z.object({
  id: z.string(),
  run: RunNumber,
  for: z.enum(INBOX_FOR),
  tool: z.nullable(z.string()),
  input: z.unknown(),
  text: z.string(),
  directory: z.string(),
  channel: ChannelSchema,
  expiresAt: z.nullable(Time),
  otherwise: z.string(),
  reasons: z.boolean(),
  /** The agent's own title, if it gives one; it is not verified. `text` is derived from `tool` and `input`. */
  title: z.optional(z.string()),
  /** The changes to files, if the agent reports them. */
  changes: z.optional(z.array(FileChange)),
  /** The arguments are too long to show here. The request can be denied but not allowed. */
  unshown: z.optional(z.boolean()),
});
export type Asked = z.infer<typeof Asked>;

/** `open` waits for an answer. `elsewhere`: answered on the agent's own screen. `withdrawn`: the agent no longer waits for an answer. */
export const Approval = z.extend(Asked, {
  session: SessionId,
  /** The session's name. */
  name: z.string(),
  agent: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  requestedAt: Time,
  /** When it was answered or resolved. */
  endedAt: z.nullable(Time),
  /** The principal that answered: a person, a token, or a rule of config.toml. */
  answeredBy: z.nullable(Principal),
  /** The reason of a denial, or the answer to a question. */
  reason: z.nullable(z.string()),
  /** For a request over a protocol: its id in the transcript. */
  ask: z.optional(z.string()),
  /** Hash of everything shown. An answer with an outdated digest is refused. */
  digest: z.string(),
  /** Answers that the inbox can give now. Empty: the request is answered on the agent's own screen, or is closed. */
  answers: z.array(DecisionSchema),
});
export type Approval = z.infer<typeof Approval>;

export const APPROVAL_EVENTS = {
  /**
   * The agent made a permission request or asked a question, and waits. `ask`: the name of the file that its hook waits on; `dialog`: the dialog on
   * its screen.
   */
  "approval.requested": z.extend(Asked, { ask: z.nullable(z.string()), dialog: z.nullable(z.string()) }),
  /** The actor decided, and keys are about to be pressed in the dialog on the agent's screen. A later event records that they took effect. */
  "approval.answering": z.object({ id: z.string(), run: RunNumber, decision: DecisionSchema, text: z.string() }),
  /** The actor, a principal or a rule, decided. From now on the agent is given this answer, also by the next daemon. */
  "approval.answered": z.object({
    id: z.string(),
    run: RunNumber,
    decision: DecisionSchema,
    reason: z.nullable(z.string()),
    /** The request, in one line. */
    text: z.string(),
    /** The answer also applies to similar requests, by the agent's own rules. */
    always: z.optional(z.boolean()),
  }),
  /** The answer had no effect: the agent still waits, and must be answered on its own screen. */
  "approval.reopened": z.object({ id: z.string(), run: RunNumber, text: z.string(), dialog: z.nullable(z.string()) }),
  /** Closed without an answer from the inbox. */
  "approval.resolved": z.object({ id: z.string(), run: RunNumber, how: z.enum(RESOLVED) }),
} as const;
