import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";
import { callerEnvironment } from "../../start-session.ts";
import { TRUST_FLAG } from "../../trusting.ts";
import { withProgress } from "../../workspace-progress.ts";

export const command: Command = {
  name: "workspace create",
  summary: "make one from the repository of this directory",
  usage: "[NAME] [--branch BRANCH] [--base REF] [--no-setup] [--trust]",
  description:
    'Prints its path. It begins from what is checked out here, or from --base; uncommitted changes stay here. The project\'s .holdfast/config.toml\nsays which untracked files are copied into it and what is run in it first:\n\n  [workspace]\n  copy = [".env", "node_modules"]\n  setup = "npm ci"\n\nYou are asked before it is done the first time; see holdfast trust.',
  arguments: "nothing",
  flags: {
    branch: { value: "BRANCH", summary: "its branch (default: holdfast/NAME); one that is there is checked out", complete: "nothing" },
    base: { value: "REF", summary: "what it begins from: a branch or a commit (default: what is checked out)", complete: "nothing" },
    "no-setup": { summary: "without the project's set-up command" },
    trust: TRUST_FLAG,
  },
  examples: [
    ["holdfast workspace create fix-login", "on the branch holdfast/fix-login"],
    ["holdfast workspace create --branch feature/x --base main", "with a name of two readable words"],
    ['cd "$(holdfast workspace create try)"', "and work there: holdfast workspace create prints the path"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (more.length > 0)
      throw new HoldfastError("usage", `${JSON.stringify(more[0])} is one argument too many`, { hint: "a branch goes after --branch" });
    const { flags } = context;
    const body = {
      cwd: process.cwd(),
      env: callerEnvironment(),
      name,
      branch: flags.text("branch"),
      base: flags.text("base"),
      setup: !flags.has("no-setup"),
    };
    const workspace = await withProgress(context, () => context.client.call("createWorkspace", { body }));
    process.stdout.write(context.json ? `${JSON.stringify(workspace)}\n` : `${workspace.path}\n`);
    if (context.json) return 0;
    for (const note of workspace.notes) process.stderr.write(`note: ${plain(note)}\n`);
    if (process.stderr.isTTY)
      process.stderr.write(`${plain(workspace.name)} is ready. An agent in it: holdfast spawn AGENT --workspace ${workspace.name}\n`);
    return 0;
  },
};
