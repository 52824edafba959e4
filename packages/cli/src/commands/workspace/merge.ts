import type { MergeOutcome } from "@holdfast/contract/workspace/end";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";
import { mergeBody, mergeFlags } from "../../workspace/merge-flags.ts";
import { workspaceRef } from "../../workspace/ref.ts";
import { printNotes, pushedText } from "../../workspace/text.ts";

export const command: Command = {
  name: "workspace merge",
  summary: "merge the commits of a workspace into its base branch",
  usage: "[NAME] [--squash | --rebase] [--into BRANCH] [--commit MESSAGE] [--message TEXT] [--push]",
  description:
    "Fast-forwards the base if it has not moved; otherwise pass --squash or --rebase. On a conflict, or with uncommitted files in the workspace or where the base is checked out, the merge lists the files and changes nothing. The workspace stays.",
  arguments: "workspaces",
  flags: mergeFlags,
  examples: [
    ["holdfast workspace merge fix-login", "fast-forward the base"],
    ['holdfast workspace merge fix-login --squash -m "Mend the login"', "squash into one commit"],
    ['holdfast workspace merge fix-login --rebase --commit "Add the rest"', "include what the agent did not commit"],
    ["holdfast workspace merge try --into release", "merge into another branch"],
  ],
  async run(context) {
    const body = mergeBody(context.flags);
    const outcome = await context.client.call("mergeWorkspace", { params: { ref: workspaceRef(context, "merge") }, body });
    process.stdout.write(context.json ? `${JSON.stringify(outcome)}\n` : `${render(outcome)}\n`);
    if (!context.json) printNotes(outcome.merged.notes);
    return 0;
  },
};

function render({ workspace, merged, pushed }: MergeOutcome): string {
  const { way, into, commit, before, commits } = merged;
  const what = commits === 1 ? "1 commit is" : `${counted(commits, "commit")} are`;
  const how = commit === before ? "already" : way === "squash" ? `as one, ${commit.slice(0, 10)}` : `now at ${commit.slice(0, 10)}`;
  const lines = [`${plain(workspace.name)}: ${what} in ${plain(into)}, ${how}`, ...(pushed ? [pushedText(pushed)] : [])];
  return lines.join("\n");
}
