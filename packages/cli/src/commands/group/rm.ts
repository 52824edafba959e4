import type { Command } from "../../command.ts";
import { given } from "../../group-arguments.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "group rm",
  summary: "remove a group with what it shares; sessions go on",
  usage: "GROUP [--force]",
  description: "Refused while a member is alive, or while groups are in it; --force removes all of it. What was shared is gone then.",
  arguments: "groups",
  flags: { force: { summary: "also with members that are alive, and with the groups in it", short: "f" } },
  examples: [
    ["holdfast group rm team", "one whose members have ended"],
    ["holdfast group rm team --force", "with all that is in it"],
  ],
  async run(context) {
    const [group = ""] = given(context, "rm", "GROUP");
    const reply = await context.client.call("removeGroup", { params: { group }, query: { force: context.flags.has("force") } });
    process.stdout.write(context.json ? `${JSON.stringify(reply)}\n` : reply.removed.map((path) => `removed ${plain(path)}\n`).join(""));
    return 0;
  },
};
