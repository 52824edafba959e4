import * as z from "zod/mini";
import { ACCESS_EVENTS } from "./access/access.ts";
import { APPROVAL_EVENTS } from "./approval/approval.ts";
import { CHECKPOINT_EVENTS } from "./checkpoint/checkpoint.ts";
import { CONTEXT_EVENTS } from "./context/context.ts";
import { CONVERSATION_EVENTS } from "./conversation/events.ts";
import { DAEMON_EVENTS } from "./daemon/events.ts";
import { RESTORE_EVENTS } from "./daemon/restore.ts";
import { DIGEST_EVENTS } from "./digest/digest.ts";
import { GROUP_EVENTS } from "./group/group.ts";
import { Principal, SessionId } from "./ids.ts";
import { JOURNAL_EVENTS } from "./journal/events.ts";
import { MESSAGE_EVENTS } from "./message/message.ts";
import { PLAN_EVENTS } from "./plan/plan.ts";
import { RECORDING_EVENTS } from "./recording/events.ts";
import { SESSION_EVENTS } from "./session/events.ts";
import { Time } from "./session/session.ts";
import { TASK_EVENTS } from "./task/task.ts";
import { PEOPLE_EVENTS } from "./terminal/attachments.ts";
import { TOURNAMENT_EVENTS } from "./tournament/tournament.ts";
import { TRUST_EVENTS } from "./trust/trust.ts";
import { BUDGET_EVENTS } from "./usage/budget.ts";
import { USAGE_EVENTS } from "./usage/usage.ts";
import { WORKSPACE_EVENTS } from "./workspace/workspace.ts";

/**
 * Facts in the journal, in the past tense. The data of a type only gains optional fields; a breaking change gets a new `v`. Readers ignore unknown
 * types and fields. docs/EVENTS.md has a line for each type.
 */
export const EVENTS = {
  ...DAEMON_EVENTS,
  ...ACCESS_EVENTS,
  ...SESSION_EVENTS,
  ...APPROVAL_EVENTS,
  ...MESSAGE_EVENTS,
  ...WORKSPACE_EVENTS,
  ...RESTORE_EVENTS,
  ...CHECKPOINT_EVENTS,
  ...TASK_EVENTS,
  ...PLAN_EVENTS,
  ...TOURNAMENT_EVENTS,
  ...TRUST_EVENTS,
  ...DIGEST_EVENTS,
  ...CONVERSATION_EVENTS,
  ...USAGE_EVENTS,
  ...BUDGET_EVENTS,
  ...CONTEXT_EVENTS,
  ...PEOPLE_EVENTS,
  ...GROUP_EVENTS,
  ...RECORDING_EVENTS,
  ...JOURNAL_EVENTS,
} as const;

export type EventType = keyof typeof EVENTS;
export type EventData<T extends EventType> = z.infer<(typeof EVENTS)[T]>;

/** Current version of the data of each type. */
export const EVENT_VERSION = 1;

const envelope = {
  epoch: z.string(),
  seq: z.int().check(z.positive()),
  id: z.string(),
  type: z.string(),
  v: z.int().check(z.positive()),
  at: Time,
  actor: Principal,
  session: z.nullable(SessionId),
  machine: z.string(),
};

/** An event on the wire. `data` depends on `type`, which may be unknown to the reader. */
export const AnyEvent = z.object({ ...envelope, data: z.record(z.string(), z.unknown()) });
export type AnyEvent = z.infer<typeof AnyEvent>;

export type HoldfastEvent = {
  [T in EventType]: Omit<AnyEvent, "type" | "data"> & { type: T; data: EventData<T> };
}[EventType];
