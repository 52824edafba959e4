import type { Command } from "../command.ts";

export const command: Command = {
  name: "checkpoint",
  summary: "a workspace's files as they were after each turn: list, compare, go back",
  usage: "VERB [NAME] …",
  description:
    "Each time an agent in a worktree ends a turn, its files are kept: what it changed, deleted and created, committed or not; ignored files are\nnot. Neither its branch nor its index nor its stash is touched. NAME is a workspace, or a session that works in one; without it, the workspace\nthat this directory is in is meant. Of an agent that does not tell when its turns end, checkpoints are made by: holdfast checkpoint create.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast checkpoint ls fix-login", "what there is, and what changed since"],
    ["holdfast checkpoint rewind fix-login 3", "as it was then; what is there now becomes a checkpoint first"],
  ],
  verbs: {
    ls: () => import("./checkpoint/ls.ts"),
    create: () => import("./checkpoint/create.ts"),
    diff: () => import("./checkpoint/diff.ts"),
    rewind: () => import("./checkpoint/rewind.ts"),
  },
  run: async () => 0,
};
