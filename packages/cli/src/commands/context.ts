import type { Command } from "../command.ts";

export const command: Command = {
  name: "context",
  summary: "the Working Context: what agents know of the work in a directory",
  usage: "VERB …",
  description:
    "background.md, plan.md, working-log.md and results-summary.md in .holdfast/context, out of git's sight. Every workspace has one. An agent\nthat starts there with a prompt is told to read them and to keep them up to date, so that the next one, whoever made it, carries on.\nNAME is a session or a workspace; without it, it is the directory you are in.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast context", "what is known of the work in this directory"],
    ["holdfast context edit plan", "lay it out where there is none, and write the plan"],
  ],
  verbs: {
    show: () => import("./context/show.ts"),
    edit: () => import("./context/edit.ts"),
    export: () => import("./context/export.ts"),
  },
  run: async () => 0,
};
