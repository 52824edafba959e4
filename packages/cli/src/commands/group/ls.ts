import type { Command } from "../../command.ts";
import { groupTable } from "../../group/text.ts";

export const command: Command = {
  name: "group ls",
  summary: "list groups with member count and coordinator",
  usage: "",
  onlyReads: true,
  examples: [
    ["holdfast group ls", "list all groups"],
    ["holdfast group ls --json | jq -r '.[].path'", "print only the names"],
  ],
  async run(context) {
    const { groups } = await context.client.call("listGroups", {});
    if (context.json) process.stdout.write(`${JSON.stringify(groups)}\n`);
    else
      process.stdout.write(groups.length === 0 ? "No groups. Create one: holdfast group join GROUP SESSION…\n" : `${groupTable(groups)}\n`);
    return 0;
  },
};
