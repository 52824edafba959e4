import type { Command } from "../../command.ts";
import { given, ifRevision } from "../../group/arguments.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group unset",
  summary: "remove a shared value",
  usage: "GROUP KEY [--if-revision N]",
  description: "Removes the group's own value. A value of a parent group stays and becomes visible again.",
  arguments: "group-keys",
  flags: { "if-revision": { value: "N", summary: "remove it only if it has this revision", complete: "nothing" } },
  examples: [
    ["holdfast group unset team api", "remove a value"],
    ["holdfast group unset team lock --if-revision 12", "remove it only if nobody changed it since"],
  ],
  async run(context) {
    const [group = "", key = ""] = given(context, "unset", "GROUP KEY");
    const gone = await context.client.call("unsetValue", { params: { group, key }, query: { ifRevision: ifRevision(context) } });
    process.stdout.write(
      context.json ? `${JSON.stringify(gone)}\n` : `${plain(gone.key)} of ${plain(gone.group)} is unset (revision ${gone.revision})\n`,
    );
    return 0;
  },
};
