import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "boot",
  summary: "start the daemon at boot",
  section: "Administration",
  usage: "[VERB]",
  description: `Installs a systemd user unit, or a launchd agent on macOS, that runs holdfast up. With restore = "auto" in config.toml, sessions are restored then. On Linux, a user's services start at boot only with lingering enabled; the command prints how.`,
  examples: [
    ["holdfast boot install", "start the daemon at the next boot"],
    ["holdfast boot uninstall", "undo that"],
    ["holdfast boot", "show the state"],
  ],
  verbs: {
    status: () => import("./boot/status.ts"),
    install: () => import("./boot/install.ts"),
    uninstall: () => import("./boot/uninstall.ts"),
  },
};
