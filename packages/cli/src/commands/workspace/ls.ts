import type { Command } from "../../command.ts";
import { workspaceTable } from "../../workspace-text.ts";

export const command: Command = {
  name: "workspace ls",
  summary: "workspaces, with what git says of each and with what they would not merge",
  usage: "[--all] [--here]",
  onlyReads: true,
  flags: { all: { summary: "removed ones too" }, here: { summary: "only those of the repository of this directory" } },
  examples: [
    ["holdfast workspace ls", "all that there are"],
    ["holdfast workspace ls --all", "also those that can be recovered"],
    ["holdfast workspace ls --json | jq '.[] | select(.dirty)'", "those with uncommitted changes"],
  ],
  async run(context) {
    const query = { all: context.flags.has("all"), ...(context.flags.has("here") ? { repo: process.cwd() } : {}) };
    const { workspaces } = await context.client.call("listWorkspaces", { query });
    if (context.json) process.stdout.write(`${JSON.stringify(workspaces)}\n`);
    else if (workspaces.length > 0) process.stdout.write(`${workspaceTable(workspaces)}\n`);
    else
      process.stdout.write(
        "No workspaces. Make one: holdfast workspace create; or start an agent in one: holdfast spawn AGENT --worktree\n",
      );
    return 0;
  },
};
