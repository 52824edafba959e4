import type { Command } from "../../command.ts";
import { writeOut } from "../../console/write-out.ts";
import { diffText } from "../../text/diff.ts";
import { workspaceRef } from "../../workspace/ref.ts";

export const command: Command = {
  name: "workspace diff",
  summary: "show the changes of a workspace: commits, uncommitted changes, new files",
  usage: "[NAME] [--stat | --names]",
  arguments: "workspaces",
  flags: { stat: { summary: "show statistics per file" }, names: { summary: "show file names" } },
  examples: [
    ["holdfast workspace diff fix-login", "show all changes"],
    ["holdfast workspace diff fix-login --stat", "show statistics"],
  ],
  pages: () => true,
  async run(context) {
    const { flags, json } = context;
    const query = { stat: flags.has("stat"), names: flags.has("names"), color: false };
    const reply = await context.client.call("diffWorkspace", { params: { ref: workspaceRef(context, "diff") }, query });
    await writeOut(json ? `${JSON.stringify(reply)}\n` : diffText(reply.diff));
    if (!json && reply.diff === "" && process.stderr.isTTY) process.stderr.write("No changes.\n");
    return 0;
  },
};
