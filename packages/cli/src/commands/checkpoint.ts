import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "checkpoint",
  summary: "list, compare and restore the states of a workspace after each turn",
  section: "Workspaces",
  usage: "VERB [NAME] …",
  description:
    "When an agent in a worktree ends a turn, Holdfast records its files: changed, deleted and new ones, committed or not. Ignored files are not recorded. The branch, index and stash stay untouched. NAME is a workspace or a session in one; the default is the workspace of the current directory. For an agent that does not report its turns, run holdfast checkpoint create.",
  examples: [
    ["holdfast checkpoint ls fix-login", "list the checkpoints and what changed"],
    ["holdfast checkpoint rewind fix-login 3", "go back to checkpoint 3; the current state becomes a checkpoint first"],
  ],
  verbs: {
    ls: () => import("./checkpoint/ls.ts"),
    create: () => import("./checkpoint/create.ts"),
    diff: () => import("./checkpoint/diff.ts"),
    rewind: () => import("./checkpoint/rewind.ts"),
  },
};
