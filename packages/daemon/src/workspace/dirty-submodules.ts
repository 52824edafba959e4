/**
 * Finds submodules with uncommitted files. Git would look into each with the configuration found there, which an agent can write. So git is told
 * not to, and each submodule is checked as a separate repository.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GitOptions, git, parts, tryGit } from "./git.ts";

/** Returns lines as `git status` prints them: ` M lib`. `known`: lines that `git status` already returned. */
export async function dirtySubmodules(tree: string, options: GitOptions, known: readonly string[] = []): Promise<string[]> {
  const dirty: string[] = [];
  for (const path of await checkedOutSubmodules(tree, options)) {
    if (!known.some((line) => line.slice(3) === path) && (await isDirty(join(tree, path), options))) dirty.push(` M ${path}`);
  }
  return dirty;
}

/** Returns the paths of submodules in the index that are checked out. */
export async function checkedOutSubmodules(tree: string, options: GitOptions): Promise<string[]> {
  return (await gitLinks(tree, options)).filter((path) => existsSync(join(tree, path, ".git")));
}

export async function gitLinks(tree: string, options: GitOptions): Promise<string[]> {
  const links = parts(await git(tree, ["ls-files", "--stage", "-z"], options)).filter((line) => line.startsWith("160000 "));
  return [...new Set(links.map((line) => line.slice(line.indexOf("\t") + 1)))];
}

export async function isDirty(tree: string, options: GitOptions): Promise<boolean> {
  const { code, stdout } = await tryGit(
    tree,
    ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"],
    options,
  );
  return code !== 0 || stdout !== "" || (await dirtySubmodules(tree, options).catch(() => ["?"])).length > 0;
}
