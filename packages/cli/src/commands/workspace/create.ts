import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { callerEnvironment } from "../../session/start.ts";
import { plain } from "../../text/plain.ts";
import { withProgress } from "../../workspace/progress.ts";
import { TRUST_FLAG } from "../../workspace/trusting.ts";

export const command: Command = {
  name: "workspace create",
  summary: "create a workspace from the repository of this directory",
  usage: "[NAME] [--branch BRANCH] [--base REF] [--no-setup] [--trust]",
  description: `Prints the path of the workspace. Its branch starts at the checked-out commit, or at --base; uncommitted changes are not included. The project's .holdfast/config.toml can name untracked files to copy and a setup command:\n\n  [workspace]\n  copy = [".env", "node_modules"]\n  setup = "npm ci"\n\nHoldfast asks before the first time; see holdfast trust.`,
  arguments: "nothing",
  flags: {
    branch: { value: "BRANCH", summary: "branch (default: holdfast/NAME); an existing one is checked out", complete: "nothing" },
    base: { value: "REF", summary: "branch or commit to start from (default: the checked-out commit)", complete: "nothing" },
    "no-setup": { summary: "skip the project's setup command" },
    trust: TRUST_FLAG,
  },
  examples: [
    ["holdfast workspace create fix-login", "create a workspace on branch holdfast/fix-login"],
    ["holdfast workspace create --branch feature/x --base main", "create one with a generated name"],
    ['cd "$(holdfast workspace create try)"', "create a workspace and go there"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (more.length > 0)
      throw new HoldfastError("usage", `unexpected argument ${JSON.stringify(more[0])}`, { hint: "a branch goes after --branch" });
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
      process.stderr.write(`${plain(workspace.name)} is ready. Start an agent in it: holdfast spawn AGENT --workspace ${workspace.name}\n`);
    return 0;
  },
};
