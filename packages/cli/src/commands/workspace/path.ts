import type { Command } from "../../command.ts";
import { workspaceRef } from "../../workspace/ref.ts";

export const command: Command = {
  name: "workspace path",
  summary: "print the path of a workspace",
  usage: "[NAME]",
  arguments: "workspaces",
  onlyReads: true,
  examples: [['cd "$(holdfast workspace path fix-login)"', "go to a workspace"]],
  async run(context) {
    const { path } = await context.client.call("getWorkspace", { params: { ref: workspaceRef(context, "path") } });
    process.stdout.write(context.json ? `${JSON.stringify({ path })}\n` : `${path}\n`);
    return 0;
  },
};
