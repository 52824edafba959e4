import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "workspace",
  summary: "manage the git worktrees of agents",
  section: "Workspaces",
  startsPrograms: true,
  usage: "VERB …",
  description:
    "A workspace is a git worktree on its own branch, outside the repository's directory. Agents in different workspaces do not see each other's uncommitted files. Refer to a workspace by name, id, the beginning of its id, or a session in it; the default is the workspace of the current directory.",
  examples: [
    ["holdfast workspace", "list the workspaces"],
    ["holdfast workspace create try", "create a worktree for yourself; for an agent: holdfast spawn AGENT --worktree"],
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
};
