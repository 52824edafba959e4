/** Enumerations of workspaces. No schema library here: the CLI's hot path loads this file. */
export const WORKSPACE_KINDS = ["worktree", "plain"] as const;

/** `interrupted`: the end of the command was not seen. */
export const SETUP_STATES = ["running", "done", "failed", "interrupted"] as const;

/** How a workspace's commits reach its base: unchanged, as one commit, or rebased onto it. */
export const MERGE_WAYS = ["ff", "squash", "rebase"] as const;
export type MergeWay = (typeof MERGE_WAYS)[number];
