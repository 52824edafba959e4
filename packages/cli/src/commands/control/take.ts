import { act, TO } from "../../act-on-control.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "control take",
  summary: "drive a session, whoever does so now",
  usage: "NAME [--to PRINCIPAL]",
  flags: { to: TO },
  arguments: "sessions",
  examples: [
    ["holdfast control take demo", "on the last terminal of yours"],
    ["holdfast control take demo --to token:ada", "on hers"],
  ],
  run: (context) => act(context, "take"),
};
