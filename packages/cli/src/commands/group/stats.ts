import type { GroupStats } from "@holdfast/contract/group/group";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { rows } from "../../group/text.ts";
import { formatDuration } from "../../text/duration.ts";
import { costText, tokensText } from "../../usage/spent.ts";

export const command: Command = {
  name: "group stats",
  summary: "show status, turns, tokens, cost and messages of a group",
  usage: "GROUP",
  description:
    "Counts each session of the group and its inner groups once. Cost and tokens include all runs of a member, also those before it joined; see holdfast usage --by group.",
  onlyReads: true,
  arguments: "groups",
  examples: [
    ["holdfast group stats team", "show the progress of a group"],
    ["holdfast group stats team --json | jq .spent.cost", "print the cost"],
  ],
  async run(context) {
    const [group = ""] = given(context, "stats", "GROUP");
    const stats = await context.client.call("groupStats", { params: { group } });
    process.stdout.write(`${context.json ? JSON.stringify(stats) : render(stats)}\n`);
    return 0;
  },
};

function render({ group, sessions, turns, spent, messages, keys }: GroupStats): string {
  const statuses = Object.entries(sessions.byStatus).map(([status, count]) => `${count} ${status}`);
  const { sent, replied, medianReplyMs } = messages;
  return rows([
    ["group", group],
    ["sessions", sessions.total === 0 ? "none" : `${sessions.total}: ${statuses.join(", ")}`],
    ["turns", String(turns)],
    ["tokens", spent.turns === 0 ? null : tokensText(spent)],
    ["cost", spent.turns === 0 ? null : costText(spent)],
    ["messages", sent === 0 ? "none" : `${sent}, ${replied} answered`],
    ["replied in", medianReplyMs === null ? null : `${replyText(medianReplyMs)} (median)`],
    ["shares", keys === 0 ? "nothing" : counted(keys, "value")],
  ]);
}

function replyText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : formatDuration(ms);
}
