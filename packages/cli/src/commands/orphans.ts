import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "orphans",
  summary: "list, adopt and stop processes without a record",
  section: "Administration",
  onlyPrints: true,
  usage: "[VERB] …",
  description:
    "An orphan is a process that runs under this home but belongs to no session. A run whose files (sessions/ID in the home) exist can be adopted and becomes a session again. Other orphans can only be stopped.",
  examples: [
    ["holdfast orphans", "list the orphans, with reasons"],
    ["holdfast orphans adopt k7f2m9q4xw-1", "turn an orphan into a session again"],
    ["holdfast orphans stop pid-4711", "stop an orphan"],
  ],
  verbs: {
    ls: () => import("./orphans/ls.ts"),
    adopt: () => import("./orphans/adopt.ts"),
    stop: () => import("./orphans/stop.ts"),
  },
};
