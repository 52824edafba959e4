import { HoldfastError } from "@holdfast/contract/errors";
import type { Group } from "@holdfast/contract/group/group";
import type { Command } from "../../command.ts";
import { printError } from "../../console/print-error.ts";
import { sessionsOr } from "../../group/arguments.ts";
import { membersText } from "../../group/text.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group leave",
  summary: "remove sessions from a group; they keep running",
  usage: "GROUP SESSION…",
  description:
    "If the coordinator leaves, the running member with the longest membership takes over. Inside a run, without SESSION, the run's own session leaves.",
  arguments: "group-members",
  examples: [["holdfast group leave team api", "remove a member"]],
  async run(context) {
    const [path, ...names] = context.args;
    if (path === undefined) throw new HoldfastError("usage", "expected GROUP SESSION…", { hint: "see: holdfast group leave --help" });
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
