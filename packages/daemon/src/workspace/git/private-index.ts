/**
 * A copy of a working tree's index, for git commands that must leave the real one alone: an agent may be staging or committing at this moment. The
 * copy keeps git's cached file times, so of 50,000 files git reads only the changed ones.
 */
import { copyFile, mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "@holdfast/platform";
import { type Environment, type GitOptions, type GitResult, git, tryGit } from "./git.ts";

export interface PrivateIndex extends AsyncDisposable {
  /** For commands that need the index with the user's configuration, such as hooks. */
  readonly path: string;
  /** Like `git` in git.ts, in the working tree, with this index. */
  git(args: readonly string[], options?: PrivateOptions): Promise<string>;
  tryGit(args: readonly string[], options?: PrivateOptions): Promise<GitResult>;
}

type PrivateOptions = Pick<GitOptions, "input" | "encoding" | "with">;

/** Runs no hook, writes no other index, ignores line-ending warnings, and writes objects to disk before a ref names them. */
export const QUIET_SETTINGS: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.splitIndex=false",
  "core.fsmonitor=false",
  "core.safecrlf=false",
  "submodule.recurse=false",
  "core.fsync=objects,reference",
  "core.fsyncMethod=batch",
].flatMap((setting) => ["-c", setting]);

const PREFIX = "holdfast-index-";

/** Longer than any snapshot takes: older directories are left from a daemon that died. */
const LEFT_BEHIND_MS = 3_600_000;

/** `tree`: the top of a working tree. */
export async function privateIndex(tree: string, env?: Environment): Promise<PrivateIndex> {
  const gitDirectory = await git(tree, ["rev-parse", "--absolute-git-dir"], { env });
  await removeLeftBehind(gitDirectory);
  const directory = await mkdtemp(join(gitDirectory, PREFIX));
  const path = join(directory, "index");
  const run = (args: readonly string[], options: PrivateOptions = {}): [string, string[], GitOptions] => [
    tree,
    [...QUIET_SETTINGS, ...args],
    { ...options, env, with: { GIT_INDEX_FILE: path, ...options.with } },
  ];
  const index: PrivateIndex = {
    path,
    git: (args, options) => git(...run(args, options)),
    tryGit: (args, options) => tryGit(...run(args, options)),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
  try {
    const there = await copyIndex(join(gitDirectory, "index"), path);
    if (!there && (await index.tryGit(["rev-parse", "--verify", "--quiet", "HEAD"])).code === 0) await index.git(["read-tree", "HEAD"]);
    return index;
  } catch (error) {
    await index[Symbol.asyncDispose]();
    throw error;
  }
}

/** Git replaces an index by renaming, so a copy is always complete. Returns false if there is no index. */
async function copyIndex(from: string, to: string): Promise<boolean> {
  try {
    // Read the time before copying: the copy may then be newer than its time says, never older. Git rereads a file as young as its index; with a
    // later index time, a changed file would pass as unchanged.
    const { mtimeMs } = await stat(from);
    await copyFile(from, to);
    const time = (Math.floor(mtimeMs) - 1) / 1000;
    await utimes(to, time, time);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function removeLeftBehind(gitDirectory: string): Promise<void> {
  for (const name of await readdir(gitDirectory)) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(gitDirectory, name);
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > LEFT_BEHIND_MS) await rm(path, { recursive: true, force: true });
  }
}
