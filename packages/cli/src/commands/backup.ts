import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "backup",
  summary: "list, create and restore backups of the journal",
  section: "Administration",
  usage: "[VERB] …",
  description:
    "Holdfast makes a backup every 10 minutes if something happened, and thins them to one per hour, then one per day, for a week. Your last five manual backups are kept while all backups fit in 4 GB. A damaged journal is restored automatically. restore goes back on request: the records of that time return, newer sessions are rebuilt from their files, and running sessions are not touched.",
  examples: [
    ["holdfast backup", "list the backups, newest first"],
    ["holdfast backup create", "make a backup now"],
    ["holdfast backup restore 20261115T075133123Z-4711-timer", "restore a backup, after confirmation"],
  ],
  verbs: {
    ls: () => import("./backup/ls.ts"),
    create: () => import("./backup/create.ts"),
    restore: () => import("./backup/restore.ts"),
  },
};
