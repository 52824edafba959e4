import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "control",
  summary: "request, give or take control of a session",
  section: "Attach to a session",
  usage: "request|give|take NAME",
  description:
    "One attached terminal drives: its input reaches the program, and the session has its size. The others watch.\n\n  request  asks the driver, on the driver's screen\n  give     hands control to the last requester, or to --to\n  take     takes control without asking; for your own sessions, and for owners\n\nholdfast show NAME lists the attached terminals.",
  examples: [
    ["holdfast control request demo", "request control"],
    ["holdfast control give demo", "give control to the last requester"],
    ["holdfast control take demo", "take control on your latest terminal"],
  ],
  verbs: {
    request: () => import("./control/request.ts"),
    give: () => import("./control/give.ts"),
    take: () => import("./control/take.ts"),
  },
};
