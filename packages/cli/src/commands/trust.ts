import type { Command } from "../command.ts";

export const command: Command = {
  name: "trust",
  summary: "which projects may run commands and copy files into new workspaces",
  usage: "VERB …",
  description:
    "A project's .holdfast/config.toml may name a set-up command and files to copy. Holdfast runs and copies nothing of that before you have\ntrusted it. Trust holds for one repository with all its worktrees, and for exactly that command and these files: a change asks again.\nScripts that the command starts are not checked.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast trust", "what is trusted"],
    ["holdfast trust add", "show what the project of this directory asks for, and trust it"],
    ["holdfast trust revoke ~/code/app", "from now on it asks again"],
  ],
  verbs: {
    ls: () => import("./trust/ls.ts"),
    add: () => import("./trust/add.ts"),
    revoke: () => import("./trust/revoke.ts"),
  },
  run: async () => 0,
};
