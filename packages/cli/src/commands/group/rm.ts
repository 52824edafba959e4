import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group rm",
  summary: "remove a group and its shared values; sessions keep running",
  usage: "GROUP [--force]",
  description:
    "Refused while a member is running or the group contains other groups. --force removes it with everything in it. Shared values cannot be restored.",
  arguments: "groups",
  flags: { force: { summary: "remove it with running members and inner groups", short: "f" } },
  examples: [
    ["holdfast group rm team", "remove a group whose members have ended"],
    ["holdfast group rm team --force", "remove a group with everything in it"],
  ],
  async run(context) {
    const [group = ""] = given(context, "rm", "GROUP");
    const reply = await context.client.call("removeGroup", { params: { group }, query: { force: context.flags.has("force") } });
    process.stdout.write(context.json ? `${JSON.stringify(reply)}\n` : reply.removed.map((path) => `removed ${plain(path)}\n`).join(""));
    return 0;
  },
};
