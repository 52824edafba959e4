import type { Command } from "../../command.ts";
import { formatDuration } from "../../duration.ts";
import { given } from "../../group-arguments.ts";
import { callers } from "../../group-text.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "group get",
  summary: "a value, as JSON",
  usage: "GROUP KEY",
  description:
    "The group's own, else that of the nearest group above it that has one. With --json also its revision, which --if-revision of share and unset takes, its author and\nits time.",
  onlyReads: true,
  printsJson: true,
  arguments: "group-keys",
  flags: {},
  examples: [
    ["holdfast group get team api", "what it is"],
    ["holdfast group get team api --json | jq .revision", "at which revision it is"],
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
