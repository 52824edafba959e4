import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "group",
  summary: "manage groups of sessions: members, shared values, messages",
  section: "Work together",
  usage: "VERB …",
  description:
    "A group has a goal, members, one coordinator, shared values and a log of messages. Groups nest by path: members of team/research read the values of team, but not the other way round. Agents in a group use the same commands, or tools, within their own groups. holdfast spawn AGENT --group GROUP starts an agent that learns its peers.",
  examples: [
    ["holdfast group join team api web", "put two sessions into a group"],
    ["holdfast group peers api", "list the peers of a session"],
    ["holdfast group share team port 3000", "share a value with all members"],
    ["holdfast group send team 'the API is frozen now'", "send a message to all members"],
  ],
  verbs: {
    ls: () => import("./group/ls.ts"),
    create: () => import("./group/create.ts"),
    join: () => import("./group/join.ts"),
    leave: () => import("./group/leave.ts"),
    show: () => import("./group/show.ts"),
    peers: () => import("./group/peers.ts"),
    coordinator: () => import("./group/coordinator.ts"),
    share: () => import("./group/share.ts"),
    get: () => import("./group/get.ts"),
    keys: () => import("./group/keys.ts"),
    unset: () => import("./group/unset.ts"),
    watch: () => import("./group/watch.ts"),
    send: () => import("./group/send.ts"),
    log: () => import("./group/log.ts"),
    stats: () => import("./group/stats.ts"),
    goal: () => import("./group/goal.ts"),
    limit: () => import("./group/limit.ts"),
    rm: () => import("./group/rm.ts"),
  },
};
