/** Uncommitted files of a working tree, and git operations in progress there. Takes no lock, because an agent may be working. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dirtySubmodules } from "./dirty-submodules.ts";
import { type GitOptions, git, parts } from "./git.ts";

/**
 * Returns lines as `git status` prints them: `?? notes.txt`. Without `untracked`, submodules are skipped too, because their changes are their own.
 */
export async function uncommitted(
  tree: string,
  options: GitOptions,
  what: { untracked: boolean } = { untracked: true },
): Promise<string[]> {
  const untracked = `--untracked-files=${what.untracked ? "all" : "no"}`;
  const ignored = `--ignore-submodules=${what.untracked ? "dirty" : "all"}`;
  const found = parts(await git(tree, ["status", "--porcelain=v1", "-z", "--no-renames", ignored, untracked], options));
  return what.untracked ? [...found, ...(await dirtySubmodules(tree, options, found))] : found;
}

const UNDER_WAY: Readonly<Record<string, string>> = {
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
  MERGE_HEAD: "a merge",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  BISECT_LOG: "a bisect",
};

/** Names a git operation in progress, such as a rebase, or returns undefined. */
export async function underWay(tree: string, options: GitOptions): Promise<string | undefined> {
  const directory = await git(tree, ["rev-parse", "--absolute-git-dir"], options);
  const file = Object.keys(UNDER_WAY).find((name) => existsSync(join(directory, name)));
  return file === undefined ? undefined : UNDER_WAY[file];
}
