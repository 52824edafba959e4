/**
 * Submodules with uncommitted files. Git would look into each by itself, by the configuration that it finds there and an agent can write: so it is
 * told not to, and each is asked as a repository of its own.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GitOptions, git, parts, tryGit } from "./git.ts";

/** As `git status` marks them: ` M lib`. `known`: what it has said already. */
export async function dirtySubmodules(tree: string, options: GitOptions, known: readonly string[] = []): Promise<string[]> {
  const dirty: string[] = [];
  for (const path of await checkedOutSubmodules(tree, options)) {
    if (!known.some((line) => line.slice(3) === path) && (await isDirty(join(tree, path), options))) dirty.push(` M ${path}`);
  }
  return dirty;
}

/** Of the index: paths of other repositories, those of which a checkout is there. */
export async function checkedOutSubmodules(tree: string, options: GitOptions): Promise<string[]> {
  return (await gitLinks(tree, options)).filter((path) => existsSync(join(tree, path, ".git")));
}

/** `latin1` keeps every byte of a name. */
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
