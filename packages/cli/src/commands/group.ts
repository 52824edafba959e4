import type { Command } from "../command.ts";

export const command: Command = {
  name: "group",
  summary: "sessions that work together: members, a coordinator, shared values and messages",
  usage: "VERB …",
  description:
    "A group has a goal, members, of which one coordinates, values that all of them read and write, and a log of what was said to all. Groups nest by their paths: what\nis shared in team is read in team/research as well, and not the other way round. Agents in a group do all of this themselves, by the same commands\nor by tools; what they may, ends with the groups they are in. holdfast spawn AGENT --group GROUP starts one that is told who its peers are.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast group join team api web", "two sessions that know each other from now on"],
    ["holdfast group peers api", "who else is there for one of them"],
    ["holdfast group share team port 3000", "a value for all of them"],
    ["holdfast group send team 'the API is frozen now'", "words for all of them"],
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
  run: async () => 0,
};
