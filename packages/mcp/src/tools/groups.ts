/** Groups: sessions that coordinate, whoever started them. */
import { GroupGoal, GroupLimit } from "@holdfast/contract/group/group";
import * as z from "zod/mini";
import { meant } from "../self.ts";
import { say, sessionRef, tool } from "../tool.ts";

export const group = say(z.string(), "a group by its path: team, team/research");

export const GROUP_TOOLS = [
  tool({
    name: "create_group",
    description: "Create a group and its missing parents. You become its first member and its coordinator.",
    input: z.object({
      group,
      limit: say(z.optional(GroupLimit), "member limit; default: 32"),
      goal: say(z.optional(GroupGoal), "goal of the group; its members get it as a message"),
    }),
    run: ({ group: path, limit, goal }, { client }) =>
      client.call("createGroup", { body: { path, ...(limit === undefined ? {} : { limit }), ...(goal === undefined ? {} : { goal }) } }),
  }),
  tool({
    name: "set_group_goal",
    description: "Change the goal of a group. The other members get it as a message.",
    input: z.object({ group, goal: say(z.nullable(GroupGoal), "the goal; null removes it") }),
    run: ({ group: path, goal }, { client }) => client.call("changeGroup", { params: { group: path }, body: { goal } }),
  }),
  tool({
    name: "join_group",
    description:
      "Add yourself and your children to a group: a new one, or one that you or they are already in. To join another group, ask a person or the member that started you.",
    input: z.object({ group, sessions: say(z.optional(z.array(z.string())), "yourself and your children, by name; default: only you") }),
    async run({ group: path, sessions }, { client, self }) {
      const who = sessions ?? [meant(undefined, await self())];
      return client.call("joinGroup", { params: { group: path }, body: { sessions: who } });
    },
  }),
  tool({
    name: "leave_group",
    description: "Leave a group, or remove your child from it.",
    input: z.object({ group, session: say(z.optional(z.string()), "your child; default: you") }),
    async run({ group: path, session }, { client, self }) {
      return client.call("leaveGroup", { params: { group: path, ref: meant(session, await self()) } });
    },
  }),
  tool({
    name: "list_groups",
    description: "List the groups you can see: your own, and those above and below them.",
    reads: true,
    input: z.object({}),
    run: (_, { client }) => client.call("listGroups", {}),
  }),
  tool({
    name: "show_group",
    description:
      "Show one group: its goal, its members and their statuses, its coordinator, whose status is the group's state, and the number of shared values.",
    reads: true,
    input: z.object({ group }),
    run: ({ group: path }, { client }) => client.call("getGroup", { params: { group: path } }),
  }),
  tool({
    name: "list_peers",
    description: "List the other members of your groups: their names, their activity, and the coordinator. You can send them messages.",
    reads: true,
    input: z.object({ session: say(z.optional(z.string()), "your child; default: you") }),
    async run({ session }, { client, self }) {
      return client.call("listPeers", { params: { ref: meant(session, await self()) } });
    },
  }),
  tool({
    name: "set_coordinator",
    description: "Make a member the coordinator of a group. When the coordinator ends, the oldest member takes over.",
    input: z.object({ group, session: sessionRef }),
    run: ({ group: path, session }, { client }) => client.call("setCoordinator", { params: { group: path }, body: { session } }),
  }),
  tool({
    name: "group_stats",
    description: "Show combined statistics of a group: sessions by status, turns, tokens, cost, messages and the time to an answer.",
    reads: true,
    input: z.object({ group }),
    run: ({ group: path }, { client }) => client.call("groupStats", { params: { group: path } }),
  }),
];
