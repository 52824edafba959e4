import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { callerEnvironment } from "../../session/start.ts";
import { plain } from "../../text/plain.ts";
import { printNotes } from "../../workspace/text.ts";

export const command: Command = {
  name: "workspace recover",
  summary: "recover a removed workspace: worktree, branch and uncommitted files",
  usage: "NAME|ID [--name NEW]",
  description:
    "A workspace whose directory was deleted outside Holdfast is recovered from its branch. Ignored files are not kept; the files that the project copies into new worktrees (.env) are copied again. Backups stay until holdfast workspace gc --yes removes old ones.",
  arguments: "removed-workspaces",
  flags: { name: { value: "NEW", summary: "new name, if the old one is taken", complete: "nothing" } },
  examples: [
    ["holdfast workspace recover fix-login", "recover the latest workspace of that name and print its path"],
    ["holdfast workspace recover xx7arjquwc --name fix-2", "recover another one under a new name"],
  ],
  async run(context) {
    const [ref, ...more] = context.args;
    if (ref === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one workspace to recover", {
        hint: "list removed workspaces: holdfast workspace ls --all",
      });
    const body = { env: callerEnvironment(), name: context.flags.text("name") };
    const outcome = await context.client.call("recoverWorkspace", { params: { ref }, body });
    process.stdout.write(context.json ? `${JSON.stringify(outcome)}\n` : `${plain(outcome.workspace.path)}\n`);
    if (!context.json) printNotes(outcome.notes);
    return 0;
  },
};
