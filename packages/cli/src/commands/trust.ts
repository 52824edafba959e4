import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "trust",
  summary: "manage which projects may run setup commands and copy files",
  section: "Workspaces",
  usage: "VERB …",
  description:
    "A project's .holdfast/config.toml can name a setup command and files to copy. Holdfast does neither until you trust it. Trust covers one repository with all its worktrees, and exactly that command and these files; after a change Holdfast asks again. Scripts that the command starts are not checked.",
  examples: [
    ["holdfast trust", "list what is trusted"],
    ["holdfast trust add", "review and trust the project of this directory"],
    ["holdfast trust revoke ~/code/app", "ask again from now on"],
  ],
  verbs: {
    ls: () => import("./trust/ls.ts"),
    add: () => import("./trust/add.ts"),
    revoke: () => import("./trust/revoke.ts"),
  },
};
