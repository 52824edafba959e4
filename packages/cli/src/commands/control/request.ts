import { act } from "../../act-on-control.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "control request",
  summary: "ask whoever drives a session for it",
  usage: "NAME",
  flags: {},
  arguments: "sessions",
  examples: [["holdfast control request demo", "where nobody drives, you do at once"]],
  run: (context) => act(context, "request"),
};
