/** What agents ask leave for, in one place, and what became of it. */
import * as z from "zod/mini";
import { Principal, RunNumber, SessionId } from "./ids.ts";
import { Time } from "./session.ts";
import { APPROVAL_CHANNELS, APPROVAL_STATUSES, DECISIONS, INBOX_FOR } from "./status.ts";
import { FileChange } from "./transcript.ts";

export const DecisionSchema = z.enum(DECISIONS);
export const ChannelSchema = z.enum(APPROVAL_CHANNELS);

/**
 * A request as the agent made it. `tool` and `input` are its own words for what it is to do; null where only its screen says so. `text`: the
 * same in one line, derived from them. `expiresAt`: when the agent stops waiting for the inbox, or null; `otherwise`: what it does then. `reasons`: whether what
 * is said with a deny reaches it.
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
  /** What the agent calls it, in its own words, where it says some: it may say anything. `text` is derived from `tool` and `input`. */
  title: z.optional(z.string()),
  /** What it would change in files, where the agent tells that. */
  changes: z.optional(z.array(FileChange)),
  /** Its arguments are too long to be shown here: it can be denied, and nobody can allow it. */
  unshown: z.optional(z.boolean()),
});
export type Asked = z.infer<typeof Asked>;

/** `open` waits. `elsewhere`: answered on the agent's own screen. `withdrawn`: the agent does not want to know any more. */
export const Approval = z.extend(Asked, {
  session: SessionId,
  /** The session's. */
  name: z.string(),
  agent: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  requestedAt: Time,
  /** When it was answered, or was over without. */
  endedAt: z.nullable(Time),
  /** A person, a token, or a rule of config.toml. */
  answeredBy: z.nullable(Principal),
  /** What was said with a deny; the answer to a question. */
  reason: z.nullable(z.string()),
  /** Of a request in a protocol: what its transcript calls it. */
  ask: z.optional(z.string()),
  /** A hash of all that is shown of it. An answer that carries it is refused where something else is asked for. */
  digest: z.string(),
  /** What the inbox can tell the agent now; empty: it is answered on its own screen, or is over. */
  answers: z.array(DecisionSchema),
});
export type Approval = z.infer<typeof Approval>;
