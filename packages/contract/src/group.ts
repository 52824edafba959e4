/** Sessions that coordinate: members, a coordinator, and values that all of them share. */
import * as z from "zod/mini";
import { LONGEST_GOAL, MOST_MEMBERS } from "./group-path.ts";
import { Principal, SessionId } from "./ids.ts";
import { StatusSchema, Time } from "./session.ts";
import { Sums } from "./usage.ts";

export const GroupMember = z.object({
  session: SessionId,
  /** As the session is called now. */
  name: z.string(),
  agent: z.string(),
  status: StatusSchema,
  /** It stays a member, and is one that works again when it is resumed. */
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
  /** Its own, the longest first; those of its children are theirs. */
  members: z.array(GroupMember),
  /** What its members are there for; null where nobody has said it. */
  goal: z.nullable(z.string()),
  /** Null: no member is alive. */
  coordinator: z.nullable(z.object({ session: SessionId, name: z.string() })),
  /** The status of its coordinator; null where nobody coordinates it. */
  state: z.nullable(StatusSchema),
  /** How many members it may have. */
  limit: z.int(),
  /** How many values of its own it has. */
  keys: z.int(),
  /** Of the last change of a value, in this group or another of its tree. */
  revision: z.int(),
  createdAt: Time,
  createdBy: Principal,
});
export type Group = z.infer<typeof Group>;

/** Another member of a group of a session's, or of one above or below it. */
export const Peer = z.extend(z.omit(GroupMember, { joinedAt: true }), {
  /** Those of its groups by which it is one. `coordinator`: of a group that both are in. */
  groups: z.array(z.string()),
  role: z.nullable(z.string()),
  objective: z.nullable(z.string()),
});
export type Peer = z.infer<typeof Peer>;

/**
 * A value that members share. `revision` is that of its last change: it counts upward over all changes in a top-level group and those below
 * it, from 1, and is never used again.
 */
export const SharedValue = z.object({
  /** Whose it is: the one that was asked, or the nearest above it that has the key. */
  group: z.string(),
  key: z.string(),
  /** Any JSON. */
  value: z.unknown(),
  revision: z.int(),
  author: Principal,
  at: Time,
});
export type SharedValue = z.infer<typeof SharedValue>;

/** A value in a list: without the value itself, which may be long. */
export const SharedKey = z.extend(z.omit(SharedValue, { value: true }), {
  bytes: z.int(),
  /** Of a group above: the one that was asked, or one between, has a value of the same key. */
  hidden: z.boolean(),
});
export type SharedKey = z.infer<typeof SharedKey>;

/** The newest change of one key; `value` is null where it was unset. */
export const ValueChange = z.extend(SharedValue, { unset: z.boolean() });
export type ValueChange = z.infer<typeof ValueChange>;

/** Of the group and all below it, each session once. */
export const GroupStats = z.object({
  group: z.string(),
  sessions: z.object({ total: z.int(), alive: z.int(), ended: z.int(), byStatus: z.partialRecord(StatusSchema, z.int()) }),
  turns: z.int(),
  /** What its members have used of models, in all their runs. */
  spent: Sums,
  messages: z.object({
    /** To the group, and between its members. */
    sent: z.int(),
    replied: z.int(),
    /** Null: none was answered. */
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

/** `group` is its path. Of the member concerned, else of no session. */
export const GROUP_EVENTS = {
  /** `limit` is null where it is as configured. */
  "group.created": z.object({ group: z.string(), limit: z.nullable(GroupLimit), goal: z.optional(z.string()) }),
  "group.limit_changed": z.object({ group: z.string(), limit: z.nullable(GroupLimit) }),
  /** Null: it has none any more. */
  "group.goal_changed": z.object({ group: z.string(), goal: z.nullable(z.string()) }),
  /** With its values. `revision`: the last of its tree, from which those of a later group of that name go on. */
  "group.removed": z.object({ group: z.string(), revision: z.int() }),
  "group.joined": z.object({ group: z.string() }),
  "group.left": z.object({ group: z.string() }),
  /** Null: no member is alive. `why`: the first to join, or the first that is alive; by hand; or because the last one ended, left or was removed. */
  "group.coordinator_changed": z.object({
    group: z.string(),
    coordinator: z.nullable(SessionId),
    from: z.nullable(SessionId),
    why: z.enum(["first", "asked", "ended", "left"]),
  }),
  "group.value_shared": z.object({ group: z.string(), key: z.string(), value: z.unknown(), revision: z.int() }),
  "group.value_unset": z.object({ group: z.string(), key: z.string(), revision: z.int() }),
} as const;
