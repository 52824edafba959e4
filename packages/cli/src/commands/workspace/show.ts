import type { Command } from "../../command.ts";
import { workspaceRef } from "../../workspace/ref.ts";
import { workspaceText } from "../../workspace/text.ts";

export const command: Command = {
  name: "workspace show",
  summary: "show one workspace",
  usage: "[NAME]",
  arguments: "workspaces",
  onlyReads: true,
  examples: [
    ["holdfast workspace show fix-login", "show branch, changes, sessions, ports, conflicts and setup"],
    ["holdfast workspace show", "show the workspace of this directory"],
  ],
  async run(context) {
    const workspace = await context.client.call("getWorkspace", { params: { ref: workspaceRef(context, "show") } });
    process.stdout.write(context.json ? `${JSON.stringify(workspace)}\n` : `${workspaceText(workspace)}\n`);
    return 0;
  },
};
