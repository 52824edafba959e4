import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { sessionsOr } from "../../group/arguments.ts";
import { membersText } from "../../group/text.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group join",
  summary: "add sessions to a group; creates the group if needed",
  usage: "GROUP SESSION…",
  description:
    "Adds all sessions, or none if the group would exceed its limit. The first member is the coordinator. A session can be in several groups. Inside a run, without SESSION, the run's own session joins.",
  arguments: "group-sessions",
  examples: [
    ["holdfast group join team api web", "add two sessions"],
    ["holdfast group join team/research api", "add a session to a group inside team"],
  ],
  async run(context) {
    const [group, ...names] = context.args;
    if (group === undefined) throw new HoldfastError("usage", "expected GROUP SESSION…", { hint: "see: holdfast group join --help" });
    const joined = await context.client.call("joinGroup", { params: { group }, body: { sessions: sessionsOr(names) } });
    if (context.json) process.stdout.write(`${JSON.stringify(joined)}\n`);
    else process.stdout.write(`${render(joined)}\n`);
    return 0;
  },
};

function render(group: { path: string; joined: string[]; members: Parameters<typeof membersText>[0]["members"]; limit: number }): string {
  const who = group.joined.length === 0 ? "all of them are members already" : `${plain(group.joined.join(", "))} joined`;
  return `${who} ${plain(group.path)} (${membersText(group)})`;
}
