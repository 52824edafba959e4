import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { callers } from "../../group/text.ts";
import { formatDuration } from "../../text/duration.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group get",
  summary: "print a shared value as JSON",
  usage: "GROUP KEY",
  description:
    "Prints the group's own value, or that of the nearest parent group that has the key. --json adds the revision (for --if-revision of share and unset), the author and the time.",
  onlyReads: true,
  printsJson: true,
  arguments: "group-keys",
  examples: [
    ["holdfast group get team api", "print a value"],
    ["holdfast group get team api --json | jq .revision", "print its revision"],
  ],
  async run(context) {
    const [group = "", key = ""] = given(context, "get", "GROUP KEY");
    const shared = await context.client.call("getValue", { params: { group, key } });
    if (context.json) {
      process.stdout.write(`${JSON.stringify(shared)}\n`);
      return 0;
    }
    process.stdout.write(`${JSON.stringify(shared.value, undefined, process.stdout.isTTY ? 2 : undefined)}\n`);
    if (!process.stderr.isTTY) return 0;
    const called = await callers(context.client, group);
    const age = formatDuration(Math.max(0, Date.now() - Date.parse(shared.at)));
    const of = shared.group === group ? "" : ` of ${plain(shared.group)}`;
    process.stderr.write(`revision ${shared.revision}${of}, by ${called(shared.author)}, ${age} ago\n`);
    return 0;
  },
};
