import type { Command } from "../../command.ts";
import { given, ifRevision } from "../../group-arguments.ts";
import { plain } from "../../plain.ts";

export const command: Command = {
  name: "group unset",
  summary: "take a value away",
  usage: "GROUP KEY [--if-revision N]",
  description: "The group's own; that of a group above it stays, and is read again from then on.",
  arguments: "group-keys",
  flags: { "if-revision": { value: "N", summary: "only if it is at this revision", complete: "nothing" } },
  examples: [
    ["holdfast group unset team api", "whatever it is"],
    ["holdfast group unset team lock --if-revision 12", "only if nobody changed it since"],
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
