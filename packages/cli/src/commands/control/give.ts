import { act, TO } from "../../act-on-control.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "control give",
  summary: "hand control over to somebody who is attached",
  usage: "NAME [--to PRINCIPAL]",
  flags: { to: TO },
  arguments: "sessions",
  examples: [
    ["holdfast control give demo", "to whoever asked last, or the only one there"],
    ["holdfast control give demo --to token:ada", "to her"],
  ],
  run: (context) => act(context, "give"),
};
