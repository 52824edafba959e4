/**
 * Untracked files that a new worktree needs as well: `.env`, a cache. What git has put there is never overwritten, and a copy shares its
 * blocks with the original where the file system can.
 */
import { constants } from "node:fs";
import { cp, glob, lstat, mkdir } from "node:fs/promises";
import { basename, dirname, join, matchesGlob } from "node:path";
import { git, parts } from "./git.ts";

/** Answers what was copied, as paths below the tree. */
export async function copyUntracked(from: string, to: string, rules: readonly string[]): Promise<string[]> {
  return copyFiles(from, to, await untrackedFor(from, rules));
}

export async function copyFiles(from: string, to: string, paths: Iterable<string>): Promise<string[]> {
  const copied: string[] = [];
  for (const path of paths) {
    const target = join(to, path);
    if (await exists(target)) continue;
    await mkdir(dirname(target), { recursive: true });
    await cp(join(from, path), target, {
      recursive: true,
      force: false,
      errorOnExist: false,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      // Of a socket or a pipe there is no copy.
      filter: async (source) => {
        const stat = await lstat(source);
        return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
      },
    });
    copied.push(path);
  }
  return copied;
}

/** What the rules mean in this tree. */
export async function untrackedFor(tree: string, rules: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const anywhere = rules.map((rule) => rule.replace(/\/$/, "")).filter((rule) => !rule.includes("/"));
  // A directory of which nothing is tracked is one entry: nobody looks for a `.env` below node_modules.
  const untracked = anywhere.length === 0 ? [] : parts(await git(tree, ["ls-files", "-z", "--others", "--directory"]));
  for (const entry of untracked) {
    const path = entry.replace(/\/$/, "");
    if (anywhere.some((rule) => matchesGlob(basename(path), rule))) found.add(path);
  }
  for (const rule of rules.map((each) => each.replace(/\/$/, "")).filter((each) => each.includes("/"))) {
    for await (const path of glob(rule, { cwd: tree })) found.add(path);
  }
  found.delete(".git");
  return found;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
