import type { Command } from "../command.ts";

export const command: Command = {
  name: "control",
  summary: "who drives a session: ask for it, give it, take it",
  usage: "request|give|take NAME",
  description:
    "Of the terminals on a session one drives: what is typed there gets in, and the session has its size. The others look on. request asks\nwhoever drives, on their screen; give hands it over, to whoever asked last or --to somebody; take needs no asking, for your own sessions and\nfor owners. Who is there: holdfast show NAME.",
  flags: {},
  examples: [
    ["holdfast control request demo", "may I?"],
    ["holdfast control give demo", "to whoever asked"],
    ["holdfast control take demo", "on the last terminal of yours"],
  ],
  verbs: {
    request: () => import("./control/request.ts"),
    give: () => import("./control/give.ts"),
    take: () => import("./control/take.ts"),
  },
  run: async () => 0,
};
