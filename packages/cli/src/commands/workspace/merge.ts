import { HoldfastError } from "@holdfast/contract/errors";
import type { MergeWay } from "@holdfast/contract/status";
import type { MergeOutcome } from "@holdfast/contract/workspace-end";
import { counted } from "@holdfast/platform/units";
import type { Command, Flags } from "../../command.ts";
import { plain } from "../../plain.ts";
import { callerEnvironment } from "../../start-session.ts";
import { workspaceRef } from "../../workspace-ref.ts";
import { printNotes, pushedText } from "../../workspace-text.ts";

export const command: Command = {
  name: "workspace merge",
  summary: "bring its commits onto the branch that it began from",
  usage: "[NAME] [--squash | --rebase] [--into BRANCH] [--commit MESSAGE] [--message TEXT] [--push]",
  description:
    "As they are where the base has not moved on; else say --squash or --rebase. Where it cannot be, for a conflict, for changes where the base is\nchecked out, for uncommitted files in the workspace, it says which files, and nothing is changed. The workspace stays.",
  arguments: "workspaces",
  flags: {
    squash: { summary: "all of them as one commit of yours" },
    rebase: { summary: "each anew on top of the base; the workspace follows" },
    ff: { summary: "as they are, or not at all (the default)" },
    into: { value: "BRANCH", summary: "onto this branch (default: its base)", complete: "nothing" },
    commit: { value: "MESSAGE", summary: "commit all that is uncommitted in it first, new files too", complete: "nothing" },
    message: {
      value: "TEXT",
      short: "m",
      summary: "what the commit of --squash says (default: what its commits say)",
      complete: "nothing",
    },
    push: { summary: "push the workspace's branch as well, with your keys" },
  },
  examples: [
    ["holdfast workspace merge fix-login", "as they are"],
    ['holdfast workspace merge fix-login --squash -m "Mend the login"', "as one commit"],
    ['holdfast workspace merge fix-login --rebase --commit "What was left"', "with what the agent did not commit"],
    ["holdfast workspace merge try --into release", "onto another branch"],
  ],
  async run(context) {
    const { flags } = context;
    const body = {
      env: callerEnvironment(),
      way: wayOf(flags),
      into: flags.text("into"),
      commit: flags.text("commit"),
      message: flags.text("message"),
      push: flags.has("push"),
    };
    if (body.message !== undefined && body.way !== "squash")
      throw new HoldfastError("usage", "--message is what the one commit of --squash says", {
        hint: "what is uncommitted: --commit MESSAGE",
      });
    const outcome = await context.client.call("mergeWorkspace", { params: { ref: workspaceRef(context, "merge") }, body });
    process.stdout.write(context.json ? `${JSON.stringify(outcome)}\n` : `${render(outcome)}\n`);
    if (!context.json) printNotes(outcome.merged.notes);
    return 0;
  },
};

function wayOf(flags: Flags): MergeWay | undefined {
  const said = (["squash", "rebase", "ff"] as const).filter((way) => flags.has(way));
  if (said.length <= 1) return said[0];
  throw new HoldfastError("usage", `--${said[0]} and --${said[1]} are two ways to do it`, { hint: "choose one" });
}

function render({ workspace, merged, pushed }: MergeOutcome): string {
  const { way, into, commit, before, commits } = merged;
  const what = commits === 1 ? "1 commit is" : `${counted(commits, "commit")} are`;
  const how = commit === before ? "already" : way === "squash" ? `as one, ${commit.slice(0, 10)}` : `now at ${commit.slice(0, 10)}`;
  const lines = [`${plain(workspace.name)}: ${what} in ${plain(into)}, ${how}`, ...(pushed ? [pushedText(pushed)] : [])];
  return lines.join("\n");
}
