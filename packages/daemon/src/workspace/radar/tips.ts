/**
 * Finds the current commits of a repository's workspaces and their bases, with two git commands in total. What is checked out in a workspace
 * counts, because agents create branches of their own; during a rebase or bisect, the workspace's branch counts.
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { WorkspaceId } from "@holdfast/contract";
import { placeOf } from "@holdfast/platform/git/place";
import type { WorkspaceRecord } from "../../projection/workspaces.ts";
import { commitsOf, listTrees, type Repository, type Tree } from "../git/repository.ts";

export type Placed = Pick<WorkspaceRecord, "id" | "path" | "branch" | "base">;

export interface Tip {
  /** Undefined if there is no commit or it is unknown. */
  commit: string | undefined;
  base: string | undefined;
}

export interface Tips {
  of: ReadonlyMap<WorkspaceId, Tip>;
  /** In addition to `filesOf`: the refs of branches that agents created. */
  files: string[];
}

/** Returns files below the repository's directory that change with a workspace or its base, as far as known without running git. */
export function filesOf(workspaces: readonly Placed[]): string[] {
  return workspaces.flatMap(({ path, branch, base }) => {
    const directory = treeDirectory(path);
    const heads = directory === undefined ? [] : [`${directory}/HEAD`, `${directory}/reftable/tables.list`];
    return [...branchRefs(branch), ...baseRefs(base), ...heads];
  });
}

export async function readTips(repository: Pick<Repository, "common">, workspaces: readonly Placed[]): Promise<Tips> {
  const { common } = repository;
  // Names the directory explicitly: if it is gone, git must not find an enclosing repository.
  const here = { GIT_DIR: common };
  const names = workspaces.flatMap(({ branch, base }) => [...branchRefs(branch), ...baseNames(base)]);
  const [trees, commits] = await Promise.all([listTrees(common, undefined, here), commitsOf(common, names, { with: here })]);
  const byPath = new Map(trees.map((tree) => [tree.path, tree]));
  const files: string[] = [];
  const of = new Map<WorkspaceId, Tip>();
  for (const { id, path, branch, base } of workspaces) {
    const tree = byPath.get(path);
    const directory = treeDirectory(path);
    const own = branchRefs(branch).map((name) => commits.get(name))[0];
    const isPassing = tree?.branch === null && directory !== undefined && isAway(join(common, directory));
    of.set(id, {
      commit: tree && !isPassing ? headOf(tree) : own,
      base: baseNames(base)
        .map((name) => commits.get(name))
        .find((commit) => commit !== undefined),
    });
    if (tree && tree.branch !== branch) files.push(...branchRefs(tree.branch));
  }
  return { of, files };
}

function branchRefs(branch: string | null): string[] {
  return branch === null ? [] : [`refs/heads/${branch}`];
}

function baseRefs(base: string | null): string[] {
  return base === null || isHash(base) ? [] : ["heads", "remotes", "tags"].map((kind) => `refs/${kind}/${base}`);
}

function baseNames(base: string | null): string[] {
  return base !== null && isHash(base) ? [base] : baseRefs(base);
}

function isHash(name: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(name);
}

/** All zeros before the first commit. */
function headOf({ head }: Tree): string | undefined {
  return head === null || /^0+$/.test(head) ? undefined : head;
}

/** Returns a linked tree's git directory, relative to the repository's: its HEAD is there. */
function treeDirectory(tree: string): string | undefined {
  const place = placeOf(tree);
  // The tree is gone or not linked.
  return place === undefined || place.tree !== tree || place.gitDir === place.common
    ? undefined
    : join("worktrees", basename(place.gitDir));
}

function isAway(directory: string): boolean {
  return ["rebase-merge", "rebase-apply", "BISECT_LOG"].some((name) => existsSync(join(directory, name)));
}
