import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { sessionsOr } from "../../group-arguments.ts";
import { membersText } from "../../group-text.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "group join",
  summary: "take sessions into a group, which is made if need be",
  usage: "GROUP SESSION…",
  description:
    "All of them or, where there is no room, none. The first member coordinates. A session may be in several groups. Inside a run, without SESSION, the run's own\nsession joins.",
  arguments: "group-sessions",
  flags: {},
  examples: [
    ["holdfast group join team api web", "two at once"],
    ["holdfast group join team/research api", "a group in team, of which it is a member too"],
  ],
  async run(context) {
    const [group, ...names] = context.args;
    if (group === undefined) throw new HoldfastError("usage", "say GROUP SESSION…", { hint: "see: holdfast group join --help" });
    const joined = await context.client.call("joinGroup", { params: { group }, body: { sessions: sessionsOr(names) } });
    if (context.json) process.stdout.write(`${JSON.stringify(joined)}\n`);
    else process.stdout.write(`${render(joined)}\n`);
    return 0;
  },
};

function render(group: { path: string; joined: string[]; members: Parameters<typeof membersText>[0]["members"]; limit: number }): string {
  const who = group.joined.length === 0 ? "all of them are in" : `${plain(group.joined.join(", "))} joined`;
  return `${who} ${plain(group.path)} (${membersText(group)})`;
}
