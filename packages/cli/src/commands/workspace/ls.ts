import type { Command } from "../../command.ts";
import { workspaceTable } from "../../workspace/text.ts";

export const command: Command = {
  name: "workspace ls",
  summary: "list workspaces with git status and merge conflicts",
  usage: "[--all] [--here]",
  onlyReads: true,
  flags: { all: { summary: "include removed workspaces" }, here: { summary: "only workspaces of this repository" } },
  examples: [
    ["holdfast workspace ls", "list all workspaces"],
    ["holdfast workspace ls --all", "include workspaces that can be recovered"],
    ["holdfast workspace ls --json | jq '.[] | select(.dirty)'", "list workspaces with uncommitted changes"],
  ],
  async run(context) {
    const query = { all: context.flags.has("all"), ...(context.flags.has("here") ? { repo: process.cwd() } : {}) };
    const { workspaces } = await context.client.call("listWorkspaces", { query });
    if (context.json) process.stdout.write(`${JSON.stringify(workspaces)}\n`);
    else if (workspaces.length > 0) process.stdout.write(`${workspaceTable(workspaces)}\n`);
    else
      process.stdout.write(
        "No workspaces. Create one: holdfast workspace create. Start an agent in one: holdfast spawn AGENT --worktree\n",
      );
    return 0;
  },
};
