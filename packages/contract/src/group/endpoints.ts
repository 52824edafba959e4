/** Endpoints of groups. A group in a URL is its percent-encoded path: `/groups/team%2Fresearch`. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { GROUP_MESSAGE_ENDPOINTS } from "../message/endpoints.ts";
import { ROUTES } from "../routes.ts";
import { wholeNumber } from "../wire.ts";
import { Group, GroupGoal, GroupLimit, GroupStats, Peer, SharedKey, SharedValue, ValueChange } from "./group.ts";

const name = z.string().check(z.maxLength(1000, "a name has at most 1,000 characters"));
const path = z.string().check(z.minLength(1, "name a group"), z.maxLength(1000, "a group's path has at most 1,000 characters"));
/**
 * Revision of the value as it was read, 0 if there was none. The write is refused if the value has changed since; without a revision it always
 * succeeds.
 */
const ifRevision = z.optional(z.int().check(z.minimum(0)));

const GROUP_ERRORS = ["group_not_found", "invalid_name"] as const;

export const GROUP_ENDPOINTS = {
  listGroups: {
    ...ROUTES.listGroups,
    answeredWithout: ["daemon"],
    summary: "Groups by path. A session sees its own groups and those above and below them.",
    scope: "observer",
    reach: "own",
    /** `limit`: default member limit of a group. */
    reply: z.object({ groups: z.array(Group), limit: z.int() }),
    errors: [],
  },
  createGroup: {
    ...ROUTES.createGroup,
    summary: "Creates a group and its missing parents. A session that creates one becomes its first member.",
    scope: "driver",
    reach: "own",
    body: z.object({ path, limit: z.optional(GroupLimit), goal: z.optional(GroupGoal) }),
    reply: Group,
    errors: ["invalid_name", "group_exists"],
  },
  getGroup: {
    ...ROUTES.getGroup,
    answeredWithout: ["daemon"],
    summary: "One group with its members.",
    scope: "observer",
    reach: "own",
    reply: Group,
    errors: GROUP_ERRORS,
  },
  changeGroup: {
    ...ROUTES.changeGroup,
    summary: "Changes a group's member limit (null: the configured one) or its goal (null: none). Members get a new goal as a message.",
    scope: "driver",
    reach: "own",
    body: z.object({ limit: z.optional(z.nullable(GroupLimit)), goal: z.optional(z.nullable(GroupGoal)) }),
    reply: Group,
    errors: GROUP_ERRORS,
  },
  removeGroup: {
    ...ROUTES.removeGroup,
    summary: "Removes a group and its values. Refused while it has live members or subgroups; `force` removes those from it.",
    scope: "driver",
    reach: "own",
    query: z.object({ force: z._default(z.stringbool(), false) }),
    reply: z.object({ removed: z.array(z.string()) }),
    errors: [...GROUP_ERRORS, "group_in_use"],
  },
  joinGroup: {
    ...ROUTES.joinGroup,
    summary: "Adds sessions to a group, all or none; creates the group if it does not exist. A session may add itself and its children.",
    scope: "driver",
    reach: "own",
    body: z.object({
      sessions: z.array(name).check(z.minLength(1, "name at least one session"), z.maxLength(1000, "at most 1,000 sessions at once")),
    }),
    /** `joined`: names of the sessions that were not members before. */
    reply: z.extend(Group, { joined: z.array(z.string()) }),
    errors: ["invalid_name", ...SESSION_ERRORS, "group_full"],
  },
  leaveGroup: {
    ...ROUTES.leaveGroup,
    summary: "Removes a session from a group.",
    scope: "driver",
    reach: "own",
    reply: Group,
    errors: [...GROUP_ERRORS, ...SESSION_ERRORS, "not_a_member"],
  },
  listPeers: {
    ...ROUTES.listPeers,
    answeredWithout: ["daemon"],
    summary: "The other members of a session's groups, and of those above and below them.",
    scope: "observer",
    reach: "own",
    reply: z.object({ peers: z.array(Peer) }),
    errors: SESSION_ERRORS,
  },
  setCoordinator: {
    ...ROUTES.setCoordinator,
    summary: "Makes a member the coordinator.",
    scope: "driver",
    reach: "own",
    body: z.object({ session: name }),
    reply: Group,
    errors: [...GROUP_ERRORS, ...SESSION_ERRORS, "not_a_member", "session_ended"],
  },
  ...GROUP_MESSAGE_ENDPOINTS,
  groupStats: {
    ...ROUTES.groupStats,
    answeredWithout: ["daemon"],
    summary: "Combined usage and results of a group's members and its subgroups.",
    scope: "observer",
    reach: "own",
    reply: GroupStats,
    errors: GROUP_ERRORS,
  },
  listValues: {
    ...ROUTES.listValues,
    answeredWithout: ["daemon"],
    summary: "The keys of a group's values and of the groups above it, sorted by key, the group's own first.",
    scope: "observer",
    reach: "own",
    reply: z.object({ revision: z.int(), values: z.array(SharedKey) }),
    errors: GROUP_ERRORS,
  },
  getValue: {
    ...ROUTES.getValue,
    answeredWithout: ["daemon"],
    summary: "The value of a key: the group's own, or the nearest one above it.",
    scope: "observer",
    reach: "own",
    reply: SharedValue,
    errors: [...GROUP_ERRORS, "value_not_found"],
  },
  shareValue: {
    ...ROUTES.shareValue,
    summary:
      "Sets a value. With `ifRevision` only if its revision still matches; otherwise `stale_value`, with the current value in `details`.",
    scope: "driver",
    reach: "own",
    verbatim: ["value"],
    body: z.object({ value: z.unknown(), ifRevision }),
    reply: SharedValue,
    errors: [...GROUP_ERRORS, "stale_value", "value_too_large", "too_many_keys"],
  },
  unsetValue: {
    ...ROUTES.unsetValue,
    summary: "Removes a value; `ifRevision` works as for setting one.",
    scope: "driver",
    reach: "own",
    query: z.object({ ifRevision: z.optional(wholeNumber) }),
    /** The removed value, with the revision of its removal. */
    reply: SharedValue,
    errors: [...GROUP_ERRORS, "value_not_found", "stale_value"],
  },
  watchValues: {
    ...ROUTES.watchValues,
    summary:
      "The newest change of each key after the revision `after`, in the group and those above it; waits up to `waitMs` for one. Without `after`, only new changes.",
    scope: "observer",
    reach: "own",
    query: z.object({ after: z.optional(wholeNumber), waitMs: z._default(wholeNumber, 0) }),
    /** `revision`: the `after` of the next request. */
    reply: z.object({ revision: z.int(), changes: z.array(ValueChange) }),
    errors: [...GROUP_ERRORS, "cursor_gone"],
  },
} as const satisfies Record<string, Endpoint>;
