import { hasColor } from "../../color.ts";
import type { Command } from "../../command.ts";
import { workspaceRef } from "../../workspace-ref.ts";
import { writeOut } from "../../write-out.ts";

export const command: Command = {
  name: "workspace diff",
  summary: "what was done in one since it began: commits, uncommitted changes and new files",
  usage: "[NAME] [--stat | --names]",
  arguments: "workspaces",
  flags: { stat: { summary: "only how much, file by file" }, names: { summary: "only which files" } },
  examples: [
    ["holdfast workspace diff fix-login", "all of it"],
    ["holdfast workspace diff fix-login --stat", "how much of what"],
  ],
  async run(context) {
    const { flags, json } = context;
    const query = { stat: flags.has("stat"), names: flags.has("names"), color: !json && hasColor() };
    const reply = await context.client.call("diffWorkspace", { params: { ref: workspaceRef(context, "diff") }, query });
    await writeOut(json ? `${JSON.stringify(reply)}\n` : reply.diff);
    if (!json && reply.diff === "" && process.stderr.isTTY) process.stderr.write("Nothing was changed.\n");
    return 0;
  },
};
