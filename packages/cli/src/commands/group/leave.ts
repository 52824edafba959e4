import { HoldfastError } from "@holdfast/contract/errors";
import type { Group } from "@holdfast/contract/group";
import type { Command } from "../../command.ts";
import { sessionsOr } from "../../group-arguments.ts";
import { membersText } from "../../group-text.ts";
import { plain } from "../../plain.ts";
import { printError } from "../../print-error.ts";

export const command: Command = {
  name: "group leave",
  summary: "take sessions out of a group; they go on",
  usage: "GROUP SESSION…",
  description:
    "When the coordinator leaves, the member that has been there longest and is alive takes over. Inside a run, without SESSION, the run's own session leaves.",
  arguments: "group-members",
  flags: {},
  examples: [["holdfast group leave team api", "it is no member any more"]],
  async run(context) {
    const [path, ...names] = context.args;
    if (path === undefined) throw new HoldfastError("usage", "say GROUP SESSION…", { hint: "see: holdfast group leave --help" });
    let group: Group | undefined;
    let code = 0;
    for (const ref of sessionsOr(names)) {
      try {
        group = await context.client.call("leaveGroup", { params: { group: path, ref } });
        if (!context.json)
          process.stdout.write(`${plain(names.length === 0 ? "it" : ref)} left ${plain(group.path)} (${membersText(group)})\n`);
      } catch (error) {
        const exit = printError(HoldfastError.from(error), context);
        code ||= exit;
      }
    }
    if (context.json && group) process.stdout.write(`${JSON.stringify(group)}\n`);
    return code;
  },
};
