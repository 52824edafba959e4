/**
 * Everything that a working tree holds, as one commit on its head. First as an object alone, made in an index of its own, so that whoever merges it
 * can find out that it does not fit before anything is to be seen of it; then, by `landCommit`, as the head.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { commitTree } from "./combine.ts";
import { type GitOptions, git, tryGit } from "./git.ts";
import { privateIndex } from "./private-index.ts";

export interface NewHead {
  tree: string;
  head: string;
  message: string;
  sign: boolean;
}

/** The hooks of a commit are asked as `git commit` would ask them. */
export async function commitOfAll({ tree, head, message, sign }: NewHead, options: GitOptions): Promise<string> {
  await using index = await privateIndex(tree, options.env);
  await index.git(["add", "--all"]);
  const apart = { ...options, with: { ...options.with, GIT_INDEX_FILE: index.path } };
  await hook(tree, ["pre-commit"], apart);
  const file = join(dirname(index.path), "COMMIT_EDITMSG");
  writeFileSync(file, `${message}\n`);
  await hook(tree, ["commit-msg", "--", file], apart);
  const all = await index.git(["write-tree"]);
  return await commitTree({ directory: tree, tree: all, parents: [head], message: readFileSync(file, "utf8"), sign }, options);
}

async function hook(tree: string, args: readonly string[], options: GitOptions): Promise<void> {
  const { code, stdout, stderr } = await tryGit(tree, ["hook", "run", "--ignore-missing", ...args], options);
  if (code === 0) return;
  if (/not a git command/.test(stderr)) return refuseUnasked(tree, args[0] ?? "", options);
  throw new HoldfastError("merge_refused", `the hook ${args[0]} refuses the commit: ${(stderr + stdout).trim() || `exit code ${code}`}`, {
    hint: "mend what it says in the workspace, then try again",
  });
}

/** Before git 2.36 a hook can only be asked by a commit. */
async function refuseUnasked(tree: string, name: string, options: GitOptions): Promise<void> {
  const file = resolve(tree, await git(tree, ["rev-parse", "--git-path", `hooks/${name}`], options));
  if (!existsSync(file)) return;
  throw new HoldfastError("merge_refused", `the hook ${name} cannot be asked about the commit: that takes git 2.36`, {
    hint: `commit it yourself: git -C ${tree} commit`,
  });
}

/** All is staged before the head moves: whoever dies in between leaves what `git add --all` leaves. */
export async function landCommit(
  { tree, head, commit }: { tree: string; head: string; commit: string },
  options: GitOptions,
): Promise<void> {
  await git(tree, ["add", "--all"], options);
  const moved = await tryGit(tree, ["update-ref", "-m", "commit: holdfast workspace merge", "HEAD", commit, head], options);
  if (moved.code === 0) return;
  await git(tree, ["reset", "--quiet"], options);
  throw new HoldfastError("merge_refused", "somebody committed in the workspace at the same moment; nothing was merged", {
    hint: "try again",
  });
}
