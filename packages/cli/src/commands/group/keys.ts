import type { SharedKey } from "@holdfast/contract/group/group";
import type { Command } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { callers } from "../../group/text.ts";
import { formatBytes } from "../../text/bytes.ts";
import { columns } from "../../text/columns.ts";
import { formatDuration } from "../../text/duration.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group keys",
  summary: "list the shared values of a group and its parents",
  usage: "GROUP",
  onlyReads: true,
  arguments: "groups",
  examples: [
    ["holdfast group keys team", "show each value with its author and age"],
    ["holdfast group keys team --json | jq -r '.values[].key'", "print only the keys"],
  ],
  async run(context) {
    const [group = ""] = given(context, "keys", "GROUP");
    const shared = await context.client.call("listValues", { params: { group } });
    if (context.json) process.stdout.write(`${JSON.stringify(shared)}\n`);
    else if (shared.values.length === 0)
      process.stdout.write(`No shared values in ${plain(group)}. Share one: holdfast group share ${plain(group)} KEY JSON\n`);
    else process.stdout.write(`${table(shared.values, group, await callers(context.client, group))}\n`);
    return 0;
  },
};

/** Shows each value's group if some are inherited. */
function table(values: readonly SharedKey[], group: string, called: (principal: string) => string): string {
  const isMixed = values.some((value) => value.group !== group);
  const row = ({ key, revision, bytes, author, at, group: of, hidden }: SharedKey) => [
    plain(key),
    String(revision),
    formatBytes(bytes),
    called(author),
    `${formatDuration(Math.max(0, Date.now() - Date.parse(at)))} ago`,
    ...(isMixed ? [`${plain(of)}${hidden ? " (hidden by the value above)" : ""}`] : []),
  ];
  return columns(["KEY", "REVISION", "SIZE", "BY", "CHANGED", ...(isMixed ? ["GROUP"] : [])], values.map(row));
}
