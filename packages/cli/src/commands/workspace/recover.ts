import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";
import { callerEnvironment } from "../../start-session.ts";
import { printNotes } from "../../workspace-text.ts";

export const command: Command = {
  name: "workspace recover",
  summary: "bring a removed one back: worktree, branch and uncommitted files",
  usage: "NAME|ID [--name NEW]",
  description:
    "Also one whose directory was deleted without Holdfast, as far as its branch goes. Files that git ignores are not kept: those that the project copies\ninto new worktrees (.env) are copied again. What was removed is kept until `holdfast workspace gc --yes` finds it old.",
  arguments: "removed-workspaces",
  flags: { name: { value: "NEW", summary: "under another name, where its own is taken", complete: "nothing" } },
  examples: [
    ["holdfast workspace recover fix-login", "the one that was removed last under that name; prints its path"],
    ["holdfast workspace recover xx7arjquwc --name fix-2", "another, under another name"],
  ],
  async run(context) {
    const [ref, ...more] = context.args;
    if (ref === undefined || more.length > 0)
      throw new HoldfastError("usage", "say which workspace to bring back, one at a time", {
        hint: "removed ones: holdfast workspace ls --all",
      });
    const body = { env: callerEnvironment(), name: context.flags.text("name") };
    const outcome = await context.client.call("recoverWorkspace", { params: { ref }, body });
    process.stdout.write(context.json ? `${JSON.stringify(outcome)}\n` : `${plain(outcome.workspace.path)}\n`);
    if (!context.json) printNotes(outcome.notes);
    return 0;
  },
};
