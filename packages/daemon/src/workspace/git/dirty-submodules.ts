/**
 * Finds submodules with uncommitted files. Git would look into each with the configuration found there, which an agent can write. So git is told
 * not to, and each submodule is checked as a separate repository.
 */
import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GitOptions, git, parts, tryGit } from "./git.ts";

/** Returns lines as `git status` prints them: ` M lib`. `known`: lines that `git status` already returned. */
export async function dirtySubmodules(tree: string, options: GitOptions, known: readonly string[] = []): Promise<string[]> {
  const dirty: string[] = [];
  for (const link of await gitLinks(tree, options)) {
    const path = link.toString();
    if (!isCheckedOut(tree, link) || known.some((line) => line.slice(3) === path)) continue;
    // No program can be started in a directory whose name is not UTF-8, so it counts as dirty.
    if (!isUtf8(link) || (await isDirty(join(tree, path), options))) dirty.push(` M ${path}`);
  }
  return dirty;
}

/** The paths of submodules in the index, in bytes: git's names need not be UTF-8. */
export async function gitLinks(tree: string, options: GitOptions): Promise<Buffer[]> {
  const staged = parts(await git(tree, ["ls-files", "--stage", "-z"], { ...options, encoding: "latin1" }));
  const links = staged.filter((line) => line.startsWith("160000 ")).map((line) => line.slice(line.indexOf("\t") + 1));
  return [...new Set(links)].map((link) => Buffer.from(link, "latin1"));
}

export function isCheckedOut(tree: string, link: Buffer): boolean {
  return existsSync(Buffer.concat([Buffer.from(`${tree}/`), link, Buffer.from("/.git")]));
}

export async function isDirty(tree: string, options: GitOptions): Promise<boolean> {
  const { code, stdout } = await tryGit(
    tree,
    ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"],
    options,
  );
  return code !== 0 || stdout !== "" || (await dirtySubmodules(tree, options).catch(() => ["?"])).length > 0;
}
