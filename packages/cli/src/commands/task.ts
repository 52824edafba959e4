import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "task",
  summary: "run the items of a markdown checklist",
  section: "Start agents and commands",
  startsPrograms: true,
  usage: "VERB …",
  description:
    "A task file is a markdown checklist. An agent works on each item in its own conversation, and Holdfast checks the item off when it is done.",
  examples: [["holdfast task run TASKS.md", "run every open item, one after the other"]],
  verbs: { run: () => import("./task/run.ts") },
};
