import type { Group } from "@holdfast/contract/group/group";
import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { membersText, memberTable, rows } from "../../group/text.ts";
import { localTime } from "../../text/local-time.ts";

export const command: Command = {
  name: "group show",
  summary: "show a group and its members",
  usage: "GROUP",
  onlyReads: true,
  arguments: "groups",
  examples: [
    ["holdfast group show team", "show the members and their status"],
    ["holdfast group show team --json | jq -r '.members[] | select(.ended | not) | .name'", "list the running members"],
  ],
  async run(context) {
    const [path = ""] = given(context, "show", "GROUP");
    const group = await context.client.call("getGroup", { params: { group: path } });
    process.stdout.write(`${context.json ? JSON.stringify(group) : render(group)}\n`);
    return 0;
  },
};

function render(group: Group): string {
  const facts = rows([
    ["group", group.path],
    ["goal", group.goal],
    ["state", group.state],
    ["in it", group.children.length === 0 ? null : group.children.join(", ")],
    ["members", membersText(group)],
    ["coordinator", group.coordinator?.name ?? (group.members.length === 0 ? null : "none: no member is running")],
    ["keys", group.keys === 0 ? "none" : `${group.keys}: holdfast group keys ${group.path}`],
    ["made", `${localTime(group.createdAt)} by ${group.createdBy}`],
  ]);
  return group.members.length === 0 ? `${facts}` : `${facts}\n\n${memberTable(group.members)}`;
}
