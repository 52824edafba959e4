import { act } from "../../attach/act-on-control.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "control request",
  summary: "request control of a session from its driver",
  usage: "NAME",
  arguments: "sessions",
  examples: [["holdfast control request demo", "if nobody drives, you do at once"]],
  run: (context) => act(context, "request"),
};
