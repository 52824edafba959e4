/**
 * Everything that a working tree holds, as one commit on its head. First as an object alone, made in an index of its own, so that whoever merges it
 * can find out that it does not fit before anything is to be seen of it; then, by `landCommit`, as the head.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { commitTree } from "./combine.ts";
import { type GitOptions, git, tryGit } from "./git.ts";

export interface NewHead {
  tree: string;
  head: string;
  message: string;
  sign: boolean;
}

/** The hooks of a commit are asked as `git commit` would ask them. */
export async function commitOfAll({ tree, head, message, sign }: NewHead, options: GitOptions): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-index-"));
  try {
    const index = join(directory, "index");
    const theirs = await git(tree, ["rev-parse", "--path-format=absolute", "--git-path", "index"], options);
    // What it knows of unchanged files saves reading them.
    if (existsSync(theirs)) copyFileSync(theirs, index);
    const apart = { ...options, with: { ...options.with, GIT_INDEX_FILE: index } };
    await git(tree, ["add", "--all"], apart);
    await hook(tree, ["pre-commit"], apart);
    const file = join(directory, "COMMIT_EDITMSG");
    writeFileSync(file, `${message}\n`);
    await hook(tree, ["commit-msg", "--", file], apart);
    const all = await git(tree, ["write-tree"], apart);
    return await commitTree({ directory: tree, tree: all, parents: [head], message: readFileSync(file, "utf8"), sign }, options);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function hook(tree: string, args: readonly string[], options: GitOptions): Promise<void> {
  const { code, stdout, stderr } = await tryGit(tree, ["hook", "run", "--ignore-missing", ...args], options);
  if (code === 0) return;
  throw new HoldfastError("merge_refused", `the hook ${args[0]} refuses the commit: ${(stderr + stdout).trim() || `exit code ${code}`}`, {
    hint: "mend what it says in the workspace, then try again",
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
