/** Messages to agents and people, and their receipts. */
import * as z from "zod/mini";
import { Principal, RunNumber, SessionId } from "../ids.ts";
import { Time } from "../session/session.ts";
import { MESSAGE_STATES } from "./enums.ts";

export const MessageState = z.enum(MESSAGE_STATES);

/** Same format as a session id. */
export const MessageId = z.string().check(z.regex(/^[a-z][a-z2-7]{9}$/));

/** Longer text belongs in a file that the agent is told to read. */
export const LONGEST_MESSAGE = 1_000_000;

/** Recipients of a message to a group: all its members, or its coordinator. */
export const MESSAGE_ROLES = ["member", "coordinator"] as const;

/** Longest time that a message waits in a mailbox, until it is delivered or read. */
export const LONGEST_EXPIRY_MS = 30 * 24 * 3_600_000;

/**
 * A message to an agent or a person. `state` is the last receipt: `queued`, `injecting` (being delivered; after a crash the daemon finds out by
 * evidence what happened), `injected` (the agent has it; whether it began a turn is not known), `turn_started`, `replied`, `failed`, `cancelled`.
 * `why`: what a queued message waits for, why a failed one failed, or why an injected one stays so.
 */
export const Message = z.object({
  id: z.string(),
  /** Owner of the mailbox: a session; null: the person `principal`. */
  session: z.nullable(SessionId),
  principal: z.nullable(Principal),
  /** The session's current name, or the person. */
  name: z.string(),
  from: Principal,
  /** Current name of the sending session, else the sender's principal. */
  fromName: z.string(),
  /** For a message to a group: the group, the role it was sent to, and the id that all copies share. */
  group: z.nullable(z.string()),
  role: z.nullable(z.enum(MESSAGE_ROLES)),
  sent: z.nullable(z.string()),
  /** Id of the thread's first message: the message's own id if it answers none. */
  thread: z.string(),
  replyTo: z.nullable(z.string()),
  /** After this time the message is not delivered. */
  expiresAt: z.nullable(Time),
  text: z.string(),
  /** Text appended at delivery: the location of the Working Context, with the first message to a session. */
  addition: z.nullable(z.string()),
  /** Deliver during a turn; otherwise the message waits for the end of the turn. */
  steer: z.boolean(),
  state: MessageState,
  /** How it was delivered: `typed`, by the agent's own channel, its `protocol`, or `read` by the recipient. */
  via: z.nullable(z.string()),
  /** Evidence that the message began a turn. */
  evidence: z.nullable(z.string()),
  /** The agent's answer; null also if the agent said nothing or does not report its answers. */
  reply: z.nullable(z.string()),
  why: z.nullable(z.string()),
  /** The next step, if there is a problem. */
  hint: z.nullable(z.string()),
  /** For a queued message: its session ended unintentionally, and the next run, if there is one, delivers it. */
  held: z.boolean(),
  /** For an injected message: nothing more will be known about it. */
  settled: z.boolean(),
  /** For a failed message: false if it is not known whether the agent received it. */
  known: z.boolean(),
  run: z.nullable(RunNumber),
  queuedAt: Time,
  injectedAt: z.nullable(Time),
  turnStartedAt: z.nullable(Time),
  /** When it was answered, failed or was cancelled. */
  endedAt: z.nullable(Time),
});
export type Message = z.infer<typeof Message>;

/** A message to a group or, in its log, from one member to another. Each recipient has its own copy with its own receipts. */
export const GroupMessage = z.object({
  id: z.string(),
  group: z.string(),
  /** `direct`: from one member to another alone. */
  role: z.enum([...MESSAGE_ROLES, "direct"]),
  from: Principal,
  fromName: z.string(),
  text: z.string(),
  thread: z.string(),
  replyTo: z.nullable(z.string()),
  at: Time,
  /**
   * Recipients: members that were alive in the group and the groups below it, except the sender. Removed sessions are omitted. `message`: id of the
   * copy.
   */
  to: z.array(
    z.object({
      session: SessionId,
      name: z.string(),
      message: z.string(),
      state: MessageState,
      via: z.nullable(z.string()),
      reply: z.nullable(z.string()),
      why: z.nullable(z.string()),
    }),
  ),
  /** Messages that answer this one, directly or through others. */
  answers: z.array(z.object({ id: z.string(), from: Principal, fromName: z.string(), name: z.string(), text: z.string(), at: Time })),
});
export type GroupMessage = z.infer<typeof GroupMessage>;

export const MESSAGE_EVENTS = {
  /** A message to a group. Each copy is a separate event in the same transaction. */
  "group.message_sent": z.object({
    group: z.string(),
    id: z.string(),
    role: z.enum(MESSAGE_ROLES),
    text: z.string(),
    to: z.array(SessionId),
    replyTo: z.optional(z.string()),
    thread: z.optional(z.string()),
  }),
  /** A message to the session's agent was queued. */
  "message.queued": z.object({
    id: z.string(),
    text: z.string(),
    steer: z.boolean(),
    addition: z.optional(z.string()),
    /** Recipient of a message to a person. The envelope then names no session. */
    to: z.optional(Principal),
    group: z.optional(z.string()),
    role: z.optional(z.enum(MESSAGE_ROLES)),
    /** The message to a group of which this is a copy. */
    sent: z.optional(z.string()),
    replyTo: z.optional(z.string()),
    thread: z.optional(z.string()),
    expiresAt: z.optional(Time),
    /** The same moment on the monotonic clock: boot id and milliseconds since boot. */
    due: z.optional(z.nullable(z.string())),
  }),
  /** An undelivered message to the coordinator of a group moves to the session that coordinates it now. `from` is the original sender. */
  "message.readdressed": z.object({
    id: z.string(),
    from: Principal,
    text: z.string(),
    steer: z.boolean(),
    addition: z.optional(z.string()),
    group: z.string(),
    role: z.enum(MESSAGE_ROLES),
    sent: z.string(),
    replyTo: z.optional(z.string()),
    thread: z.string(),
    expiresAt: z.optional(Time),
    due: z.optional(z.nullable(z.string())),
    queuedAt: Time,
    /** The previous mailbox. */
    before: SessionId,
  }),
  /**
   * The intent, recorded before the first key. If no later event follows, the daemon must find out whether the message was delivered. `working`: a
   * turn was running.
   */
  "message.injecting": z.object({ id: z.string(), run: RunNumber, via: z.string(), working: z.boolean() }),
  /** The message was not delivered and waits again. `doubt`: the keeper may have it, and is given it again under the same id. */
  "message.requeued": z.object({ id: z.string(), why: z.string(), doubt: z.optional(z.boolean()) }),
  /** The recipient read the message from its mailbox. `read`: the caller's own id of that request. */
  "message.read": z.object({ id: z.string(), read: z.optional(z.string()) }),
  /** The recipient answered with another message. */
  "message.answered": z.object({ id: z.string(), by: z.string(), reply: z.string() }),
  /** `working`: the agent took it during a turn that began before; may follow later, when the agent reports it. */
  "message.injected": z.object({ id: z.string(), run: RunNumber, via: z.string(), working: z.optional(z.boolean()) }),
  /** The agent has the message; nothing more will be known about it. */
  "message.settled": z.object({ id: z.string(), why: z.string() }),
  /** `turn`: the agent's own id of the turn, if it reports one. */
  "message.turn_started": z.object({ id: z.string(), run: RunNumber, evidence: z.string(), turn: z.optional(z.string()) }),
  "message.replied": z.object({ id: z.string(), run: RunNumber, reply: z.nullable(z.string()) }),
  /** `known: false`: it is not known whether the agent received the message. */
  "message.failed": z.object({ id: z.string(), why: z.string(), hint: z.string(), known: z.boolean() }),
  "message.cancelled": z.object({ id: z.string() }),
} as const;
