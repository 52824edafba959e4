import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "config",
  summary: "show, check and change the configuration",
  section: "Administration",
  usage: "[VERB] …",
  description:
    "Your configuration is ~/.config/holdfast/config.toml. A project's own is .holdfast/config.toml at the top of its repository.\ndocs/reference/configuration.md describes every key. These commands need no daemon. Inside a session, your own file cannot be changed.",
  examples: [
    ["holdfast config", "show every setting, and where it comes from"],
    ["holdfast config set prune.age 7d", "change one setting"],
    ["holdfast config check", "report every problem in the files"],
  ],
  verbs: {
    show: () => import("./config/show.ts"),
    get: () => import("./config/get.ts"),
    set: () => import("./config/set.ts"),
    edit: () => import("./config/edit.ts"),
    check: () => import("./config/check.ts"),
    path: () => import("./config/path.ts"),
  },
};
