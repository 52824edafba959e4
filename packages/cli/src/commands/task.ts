import type { Command } from "../command.ts";

export const command: Command = {
  name: "task",
  summary: "have the items of a markdown checklist done",
  usage: "VERB …",
  description: "A task file is a markdown checklist. Each item is done by an agent, in a conversation of its own, and ticked when it is.",
  flags: {},
  arguments: "nothing",
  examples: [["holdfast task run TASKS.md", "every open item, one after the other"]],
  verbs: { run: () => import("./task/run.ts") },
  run: async () => 0,
};
