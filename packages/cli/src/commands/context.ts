import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "context",
  summary: "show and edit the Working Context of a directory",
  section: "Work together",
  usage: "VERB …",
  description:
    "The Working Context is background.md, plan.md, working-log.md and results-summary.md in .holdfast/context, excluded from git. Every workspace has one. An agent that starts there with a prompt is told to read and update these files, so that the next agent can continue the work. NAME is a session or a workspace; the default is the current directory.",
  examples: [
    ["holdfast context", "show the Working Context of this directory"],
    ["holdfast context edit plan", "create it if missing, and edit the plan"],
  ],
  verbs: {
    show: () => import("./context/show.ts"),
    edit: () => import("./context/edit.ts"),
    export: () => import("./context/export.ts"),
  },
};
