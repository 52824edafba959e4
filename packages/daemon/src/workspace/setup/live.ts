/** Checks that a workspace, its directory and its repository exist. */
import { existsSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract";
import type { WorkspaceRecord } from "../../projection/workspaces.ts";

export type TreeRecord = WorkspaceRecord & { repo: string; branch: string };

/** Returns a worktree's record, removed or not. Throws `repository_unusable` for a plain directory. */
export function withBranch(record: WorkspaceRecord, verb: string): TreeRecord {
  const { name, repo, branch } = record;
  if (repo !== null && branch !== null) return { ...record, repo, branch };
  throw new HoldfastError("repository_unusable", `${name} is a plain directory without a branch: there is nothing to ${verb}`, {
    hint: "changes in it are already in place",
  });
}

/** Error for a repository that was moved or deleted. */
export function repositoryGone({ name, repo }: Pick<TreeRecord, "name" | "repo">): HoldfastError {
  return new HoldfastError("repository_unusable", `the repository of ${name} is gone: ${repo}`, {
    hint: "if it was moved, move it back",
  });
}

/** Requires the directory and the repository. Throws `workspace_removed`, `repository_unusable`. */
export function liveTree(record: WorkspaceRecord, verb: string): TreeRecord {
  const tree = withBranch(record, verb);
  const isThere = record.removedAt === null && existsSync(record.path);
  if (isThere && !existsSync(tree.repo)) throw repositoryGone(tree);
  if (isThere) return tree;
  const { name, removedAt, path } = record;
  throw new HoldfastError(
    "workspace_removed",
    removedAt === null ? `the directory of ${name} is gone: ${path}` : `the workspace ${name} was removed`,
    {
      hint: `recover it: holdfast workspace recover ${removedAt === null ? name : record.id}`,
    },
  );
}
