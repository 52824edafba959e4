/** Groups: sessions that coordinate, whoever started them. */
import { GroupGoal, GroupLimit } from "@holdfast/contract/group";
import * as z from "zod/mini";
import { meant } from "../self.ts";
import { say, sessionRef, tool } from "../tool.ts";

export const group = say(z.string(), "a group by its path: team, team/research");

export const GROUP_TOOLS = [
  tool({
    name: "create_group",
    description: "Make a group, and those it is in; you are its first member, and so its coordinator.",
    input: z.object({
      group,
      limit: say(z.optional(GroupLimit), "how many members it may have; 32 without"),
      goal: say(z.optional(GroupGoal), "what its members are there for; they are told"),
    }),
    run: ({ group: path, limit, goal }, { client }) =>
      client.call("createGroup", { body: { path, ...(limit === undefined ? {} : { limit }), ...(goal === undefined ? {} : { goal }) } }),
  }),
  tool({
    name: "set_group_goal",
    description: "Change what the members of a group are there for. The others are told.",
    input: z.object({ group, goal: say(z.nullable(GroupGoal), "the goal; null: none") }),
    run: ({ group: path, goal }, { client }) => client.call("changeGroup", { params: { group: path }, body: { goal } }),
  }),
  tool({
    name: "join_group",
    description:
      "Take yourself and children of yours into a group: a new one, or one that you or they are in already. Into a group of others a person takes you, or a member that started you.",
    input: z.object({ group, sessions: say(z.optional(z.array(z.string())), "yourself and children of yours, by name; only you without") }),
    async run({ group: path, sessions }, { client, self }) {
      const who = sessions ?? [meant(undefined, await self())];
      return client.call("joinGroup", { params: { group: path }, body: { sessions: who } });
    },
  }),
  tool({
    name: "leave_group",
    description: "Leave a group, or take a child of yours out of it.",
    input: z.object({ group, session: say(z.optional(z.string()), "a child of yours; you without") }),
    async run({ group: path, session }, { client, self }) {
      return client.call("leaveGroup", { params: { group: path, ref: meant(session, await self()) } });
    },
  }),
  tool({
    name: "list_groups",
    description: "The groups that you know of: those you are in, and those above and below them.",
    reads: true,
    input: z.object({}),
    run: (_, { client }) => client.call("listGroups", {}),
  }),
  tool({
    name: "show_group",
    description:
      "One group: its goal, its members and what they do, its coordinator and that one's status as its state, and how many values it shares.",
    reads: true,
    input: z.object({ group }),
    run: ({ group: path }, { client }) => client.call("getGroup", { params: { group: path } }),
  }),
  tool({
    name: "list_peers",
    description: "The others in your groups: who they are, what they do, and who coordinates. You can send them messages.",
    reads: true,
    input: z.object({ session: say(z.optional(z.string()), "of a child of yours; yours without") }),
    async run({ session }, { client, self }) {
      return client.call("listPeers", { params: { ref: meant(session, await self()) } });
    },
  }),
  tool({
    name: "set_coordinator",
    description: "Make a member the coordinator of a group. When the coordinator ends, the longest-standing member follows by itself.",
    input: z.object({ group, session: sessionRef }),
    run: ({ group: path, session }, { client }) => client.call("setCoordinator", { params: { group: path }, body: { session } }),
  }),
  tool({
    name: "group_stats",
    description: "What a group has done together: sessions by status, turns, tokens, cost, messages and the time until they were answered.",
    reads: true,
    input: z.object({ group }),
    run: ({ group: path }, { client }) => client.call("groupStats", { params: { group: path } }),
  }),
];
