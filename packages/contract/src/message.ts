/** What is said to agents and to persons, and how far it has come. */
import * as z from "zod/mini";
import { Principal, RunNumber, SessionId } from "./ids.ts";
import { Time } from "./session.ts";
import { MESSAGE_STATES } from "./status.ts";

export const MessageState = z.enum(MESSAGE_STATES);

/** Like a session's. */
export const MessageId = z.string().check(z.regex(/^[a-z][a-z2-7]{9}$/));

/** Longer ones belong into a file that the agent is told to read. */
export const LONGEST_MESSAGE = 1_000_000;

/** Of a message to a group: to each of its members, or to the one that coordinates it. */
export const MESSAGE_ROLES = ["member", "coordinator"] as const;

/** In a mailbox: until its agent can be given it, or until it is read. */
export const LONGEST_EXPIRY_MS = 30 * 24 * 3_600_000;

/**
 * A message to an agent, or to a person. `state` is the last receipt: `queued`, `injecting` (it is being handed over; a daemon that dies here finds out by
 * evidence what came of it), `injected` (the agent has it; whether it began a turn is not known), `turn_started`, `replied`, `failed`, `cancelled`.
 * `why`: of a queued one what it waits for, of a failed one what happened, of an injected one why it stays so.
 */
export const Message = z.object({
  id: z.string(),
  /** Whose mailbox it is in: a session's; null: that of a person, `principal`. */
  session: z.nullable(SessionId),
  principal: z.nullable(Principal),
  /** The session's name now, or the person. */
  name: z.string(),
  from: Principal,
  /** The name that its sender has now, where that is a session; else who it is. */
  fromName: z.string(),
  /** What it was sent to, where that was a group, as what part of it, and the id that all its copies share. */
  group: z.nullable(z.string()),
  role: z.nullable(z.enum(MESSAGE_ROLES)),
  sent: z.nullable(z.string()),
  /** The first message of those that answer each other: its own id where it answers none. */
  thread: z.string(),
  replyTo: z.nullable(z.string()),
  /** After that it is handed over to nobody. */
  expiresAt: z.nullable(Time),
  text: z.string(),
  /** What follows the text when it is handed over: where the Working Context is, with the first words to a session. */
  addition: z.nullable(z.string()),
  /** Also while it works; without it a message waits for the end of the turn. */
  steer: z.boolean(),
  state: MessageState,
  /** How it was handed over: `typed`, the agent's own channel, its `protocol`, or `read` by whom it is for. */
  via: z.nullable(z.string()),
  /** By what is known that it began a turn. */
  evidence: z.nullable(z.string()),
  /** The agent's answer; null also when it said none, or does not say what it said. */
  reply: z.nullable(z.string()),
  why: z.nullable(z.string()),
  /** What to do about it. */
  hint: z.nullable(z.string()),
  /** Of a queued one: its session has ended though nobody meant it to, and it is handed over by the next run, if there is one. */
  held: z.boolean(),
  /** Of an injected one: nothing more will be known of it. */
  settled: z.boolean(),
  /** Of a failed one: false when it is not known whether the agent got it. */
  known: z.boolean(),
  run: z.nullable(RunNumber),
  queuedAt: Time,
  injectedAt: z.nullable(Time),
  turnStartedAt: z.nullable(Time),
  /** When it was answered, failed or was cancelled. */
  endedAt: z.nullable(Time),
});
export type Message = z.infer<typeof Message>;

/** What somebody said to a group, or, in its log, one member to another. Each member it was for has a copy of its own, with receipts of its own. */
export const GroupMessage = z.object({
  id: z.string(),
  group: z.string(),
  /** `direct`: a member said it to another one alone. */
  role: z.enum([...MESSAGE_ROLES, "direct"]),
  from: Principal,
  fromName: z.string(),
  text: z.string(),
  thread: z.string(),
  replyTo: z.nullable(z.string()),
  at: Time,
  /** Those who were alive in it and in groups below it, without the sender; who was removed since is not there any more. `message`: the copy. */
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
  /** Messages that answer it, or one that does. */
  answers: z.array(z.object({ id: z.string(), from: Principal, fromName: z.string(), name: z.string(), text: z.string(), at: Time })),
});
export type GroupMessage = z.infer<typeof GroupMessage>;

export const MESSAGE_EVENTS = {
  /** Somebody said something to a group; what each is told is an event of its own, in the same transaction. */
  "group.message_sent": z.object({
    group: z.string(),
    id: z.string(),
    role: z.enum(MESSAGE_ROLES),
    text: z.string(),
    to: z.array(SessionId),
    replyTo: z.optional(z.string()),
    thread: z.optional(z.string()),
  }),
  /** Somebody wants to say something to the session's agent. */
  "message.queued": z.object({
    id: z.string(),
    text: z.string(),
    steer: z.boolean(),
    addition: z.optional(z.string()),
    /** Of one to a person: who. The envelope then names no session. */
    to: z.optional(Principal),
    group: z.optional(z.string()),
    role: z.optional(z.enum(MESSAGE_ROLES)),
    /** The message to a group, of which this is the copy for one. */
    sent: z.optional(z.string()),
    replyTo: z.optional(z.string()),
    thread: z.optional(z.string()),
    expiresAt: z.optional(Time),
    /** The same moment on the clock that nobody sets: boot and milliseconds since. */
    due: z.optional(z.nullable(z.string())),
  }),
  /** One to the coordinator of a group, which nobody was given yet, goes on to the session that coordinates it now. With all that it is: `from` sent it. */
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
    /** Whose mailbox it was in. */
    before: SessionId,
  }),
  /** The intent, before the first key: whoever finds it without anything later has to find out whether it was done. `working`: a turn ran. */
  "message.injecting": z.object({ id: z.string(), run: RunNumber, via: z.string(), working: z.boolean() }),
  /** It was not handed over after all, and waits again. `doubt`: its keeper may have it, and is told of it again by its id. */
  "message.requeued": z.object({ id: z.string(), why: z.string(), doubt: z.optional(z.boolean()) }),
  /** Whom it is for has asked for what waits, and was given it. `read`: the caller's own id of that. */
  "message.read": z.object({ id: z.string(), read: z.optional(z.string()) }),
  /** Whom it was for has answered it by another message. */
  "message.answered": z.object({ id: z.string(), by: z.string(), reply: z.string() }),
  "message.injected": z.object({ id: z.string(), run: RunNumber, via: z.string() }),
  /** Nothing more will be known of it than that the agent has it. */
  "message.settled": z.object({ id: z.string(), why: z.string() }),
  /** `turn`: the agent's own id of the turn, where it tells one. */
  "message.turn_started": z.object({ id: z.string(), run: RunNumber, evidence: z.string(), turn: z.optional(z.string()) }),
  "message.replied": z.object({ id: z.string(), run: RunNumber, reply: z.nullable(z.string()) }),
  /** `known: false`: whether the agent got it is not known. */
  "message.failed": z.object({ id: z.string(), why: z.string(), hint: z.string(), known: z.boolean() }),
  "message.cancelled": z.object({ id: z.string() }),
} as const;
