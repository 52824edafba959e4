import { act, TO } from "../../attach/act-on-control.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "control take",
  summary: "take control of a session from its driver",
  usage: "NAME [--to PRINCIPAL]",
  flags: { to: TO },
  arguments: "sessions",
  examples: [
    ["holdfast control take demo", "take control on your latest terminal"],
    ["holdfast control take demo --to token:ada", "take control on the terminal of that principal"],
  ],
  run: (context) => act(context, "take"),
};
