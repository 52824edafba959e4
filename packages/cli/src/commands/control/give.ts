import { act, TO } from "../../attach/act-on-control.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "control give",
  summary: "give control to another attached terminal",
  usage: "NAME [--to PRINCIPAL]",
  flags: { to: TO },
  arguments: "sessions",
  examples: [
    ["holdfast control give demo", "give control to the last requester, or the only other terminal"],
    ["holdfast control give demo --to token:ada", "give control to a named principal"],
  ],
  run: (context) => act(context, "give"),
};
