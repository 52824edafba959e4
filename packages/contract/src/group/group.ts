/** Groups: sessions that coordinate, with members, a coordinator and shared values. */
import * as z from "zod/mini";
import { Principal, SessionId } from "../ids.ts";
import { StatusSchema, Time } from "../session/session.ts";
import { Sums } from "../usage/usage.ts";
import { LONGEST_GOAL, MOST_MEMBERS } from "./path.ts";

export const GroupMember = z.object({
  session: SessionId,
  /** The session's current name. */
  name: z.string(),
  agent: z.string(),
  status: StatusSchema,
  /** An ended session stays a member, and is active again when it is resumed. */
  ended: z.boolean(),
  joinedAt: Time,
  coordinator: z.boolean(),
});
export type GroupMember = z.infer<typeof GroupMember>;

export const Group = z.object({
  /** `team/research` is a child of `team`. */
  path: z.string(),
  parent: z.nullable(z.string()),
  children: z.array(z.string()),
  /** The group's own members, the earliest first, without those of its children. */
  members: z.array(GroupMember),
  /** The goal of the members; null: none is set. */
  goal: z.nullable(z.string()),
  /** Null: no member is alive. */
  coordinator: z.nullable(z.object({ session: SessionId, name: z.string() })),
  /** Status of the coordinator; null if there is none. */
  state: z.nullable(StatusSchema),
  /** Maximum number of members. */
  limit: z.int(),
  /** Number of the group's own values. */
  keys: z.int(),
  /** Revision of the last change of a value, in this group or another of its tree. */
  revision: z.int(),
  createdAt: Time,
  createdBy: Principal,
});
export type Group = z.infer<typeof Group>;

/** Another member of one of the session's groups, or of a group above or below them. */
export const Peer = z.extend(z.omit(GroupMember, { joinedAt: true }), {
  /** Groups that make it a peer. `coordinator`: it coordinates a group that both are in. */
  groups: z.array(z.string()),
  role: z.nullable(z.string()),
  objective: z.nullable(z.string()),
});
export type Peer = z.infer<typeof Peer>;

/**
 * A value that members share. `revision` is that of its last change. It counts all changes in a top-level group and the groups below it, from 1, and
 * is never reused.
 */
export const SharedValue = z.object({
  /** The group that has the value: the requested one, or the nearest above it with that key. */
  group: z.string(),
  key: z.string(),
  /** Any JSON. */
  value: z.unknown(),
  revision: z.int(),
  author: Principal,
  at: Time,
});
export type SharedValue = z.infer<typeof SharedValue>;

/** A shared value in a list, without the value itself, which may be long. */
export const SharedKey = z.extend(z.omit(SharedValue, { value: true }), {
  bytes: z.int(),
  /** True if the requested group, or one in between, has a value with the same key. */
  hidden: z.boolean(),
});
export type SharedKey = z.infer<typeof SharedKey>;

/** The newest change of one key; `value` is null if it was unset. */
export const ValueChange = z.extend(SharedValue, { unset: z.boolean() });
export type ValueChange = z.infer<typeof ValueChange>;

/** Totals of the group and all groups below it, each session counted once. */
export const GroupStats = z.object({
  group: z.string(),
  sessions: z.object({ total: z.int(), alive: z.int(), ended: z.int(), byStatus: z.partialRecord(StatusSchema, z.int()) }),
  turns: z.int(),
  /** Model usage of the members, over all their runs. */
  spent: Sums,
  messages: z.object({
    /** Messages to the group and between its members. */
    sent: z.int(),
    replied: z.int(),
    /** Null: no message was answered. */
    medianReplyMs: z.nullable(z.number()),
  }),
  keys: z.int(),
});
export type GroupStats = z.infer<typeof GroupStats>;

export const GroupLimit = z
  .int()
  .check(z.minimum(1, "a group's limit is at least 1 member"), z.maximum(MOST_MEMBERS, "a group's limit is at most 1,000 members"));

export const GroupGoal = z
  .string()
  .check(z.trim(), z.minLength(1, "a goal cannot be empty"), z.maxLength(LONGEST_GOAL, "a goal has at most 4,000 characters"));

/** `group` is the path. The event belongs to the member concerned, else to no session. */
export const GROUP_EVENTS = {
  /** `limit` is null for the configured one. */
  "group.created": z.object({ group: z.string(), limit: z.nullable(GroupLimit), goal: z.optional(z.string()) }),
  "group.limit_changed": z.object({ group: z.string(), limit: z.nullable(GroupLimit) }),
  /** Null: the goal was removed. */
  "group.goal_changed": z.object({ group: z.string(), goal: z.nullable(z.string()) }),
  /** The group was removed with its values. `revision`: the last one of its tree; a later group of that name continues from it. */
  "group.removed": z.object({ group: z.string(), revision: z.int() }),
  "group.joined": z.object({ group: z.string() }),
  "group.left": z.object({ group: z.string() }),
  /**
   * Null: no member is alive. `why`: `first` member to join or to be alive, `asked` by a person, or the previous coordinator `ended` or `left` (also
   * by removal).
   */
  "group.coordinator_changed": z.object({
    group: z.string(),
    coordinator: z.nullable(SessionId),
    from: z.nullable(SessionId),
    why: z.enum(["first", "asked", "ended", "left"]),
  }),
  "group.value_shared": z.object({ group: z.string(), key: z.string(), value: z.unknown(), revision: z.int() }),
  "group.value_unset": z.object({ group: z.string(), key: z.string(), revision: z.int() }),
} as const;
