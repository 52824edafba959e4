import type { Command } from "../../command.ts";
import { groupTable } from "../../group-text.ts";

export const command: Command = {
  name: "group ls",
  summary: "groups, with how many are in each and who coordinates it",
  usage: "",
  onlyReads: true,
  flags: {},
  examples: [
    ["holdfast group ls", "all that there are"],
    ["holdfast group ls --json | jq -r '.[].path'", "only their names"],
  ],
  async run(context) {
    const { groups } = await context.client.call("listGroups", {});
    if (context.json) process.stdout.write(`${JSON.stringify(groups)}\n`);
    else
      process.stdout.write(groups.length === 0 ? "No groups. Make one: holdfast group join GROUP SESSION…\n" : `${groupTable(groups)}\n`);
    return 0;
  },
};
