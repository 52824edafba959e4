import type { Command } from "../command.ts";

export const command: Command = {
  name: "workspace",
  summary: "a git worktree for each agent: make, look at, merge and remove them",
  usage: "VERB …",
  description:
    "A workspace is a worktree on a branch of its own, outside the repository's tree: agents in two workspaces never see each other's\nuncommitted files. It is named by its name, its id, the beginning of its id, or a session that works in it; without a name, the one that this\ndirectory is in is meant.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast workspace", "what there is"],
    ["holdfast workspace create try", "a worktree to work in yourself; agents get theirs with: holdfast spawn AGENT --worktree"],
  ],
  verbs: {
    ls: () => import("./workspace/ls.ts"),
    create: () => import("./workspace/create.ts"),
    show: () => import("./workspace/show.ts"),
    diff: () => import("./workspace/diff.ts"),
    path: () => import("./workspace/path.ts"),
    open: () => import("./workspace/open.ts"),
    merge: () => import("./workspace/merge.ts"),
    pr: () => import("./workspace/pr.ts"),
    rm: () => import("./workspace/rm.ts"),
    recover: () => import("./workspace/recover.ts"),
    gc: () => import("./workspace/gc.ts"),
  },
  run: async () => 0,
};
