/** Finds a git repository from any directory in it: a main working tree, a linked one, or a bare repository. */
import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "@holdfast/contract";
import { placeOf } from "@holdfast/platform/git/place";
import { type Environment, firstLine, GitError, type GitOptions, type GitResult, git, parts, tryGit } from "./git.ts";

export interface Repository {
  /** The main working tree, or the bare repository: what people call the repository. */
  path: string;
  /** The directory shared by all working trees: objects, refs, configuration. */
  common: string;
  bare: boolean;
  /** The working tree that contains the given directory; null in a bare repository. */
  tree: string | null;
}

/** Returns undefined outside a repository. Throws `git_failed` if git refuses to read it. */
export async function findRepository(directory: string, env?: Environment): Promise<Repository | undefined> {
  const place = placeOf(directory);
  if (!place) return undefined;
  let trees: Tree[];
  try {
    trees = await listTrees(directory, env);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/not a git repository/i.test(error.stderr)) return undefined;
    throw new HoldfastError("git_failed", `git cannot read the repository of ${directory}: ${firstLine(error.stderr)}`, {
      hint: "check it there: git status",
    });
  }
  const [main] = trees;
  const common = realpathSync(place.common);
  const isBare = main?.bare === true;
  // A directory inside `.git` is in no working tree, though the repository has one.
  const tree = place.tree === null ? null : realpathSync(place.tree);
  return { path: isBare ? common : mainTree({ common, tree, listed: main?.path }), common, bare: isBare, tree };
}

/** A submodule's worktree list names its git directory instead of its tree. */
function mainTree({ common, tree, listed }: { common: string; tree: string | null; listed: string | undefined }): string {
  if (listed !== undefined && listed !== common) return listed;
  return tree ?? (basename(common) === ".git" ? dirname(common) : common);
}

export interface Tree {
  path: string;
  head: string | null;
  /** Without `refs/heads/`; null if the head is detached. */
  branch: string | null;
  bare: boolean;
  /** True if its directory is gone. */
  prunable: boolean;
}

/** Lists the main working tree first. */
export async function listTrees(directory: string, env?: Environment, more: Readonly<Record<string, string>> = {}): Promise<Tree[]> {
  const args = ["worktree", "list", "--porcelain", "-z"];
  const listed = await onceWhole(() => tryGit(directory, args, { env, with: more, direct: true }));
  if (listed.code !== 0) throw new GitError(args, listed);
  const text = listed.stdout;
  const trees: Tree[] = [];
  for (const line of parts(text)) {
    const space = line.indexOf(" ");
    const [key, value] = space < 0 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
    if (key === "worktree") trees.push({ path: value, head: null, branch: null, bare: false, prunable: false });
    const tree = trees.at(-1);
    if (!tree) continue;
    if (key === "HEAD") tree.head = value;
    else if (key === "branch") tree.branch = value.replace(/^refs\/heads\//, "");
    else if (key === "bare") tree.bare = true;
    else if (key === "prunable") tree.prunable = true;
  }
  return trees;
}

/** Number of tries and the delay between them. Another process creates or removes a working tree in milliseconds. */
const MOST_TRIES = 10;
const AGAIN_MS = 20;

/** Git reads the entries of all working trees, and fails on one that is just being created or removed. Retrying succeeds. */
export async function onceWhole(ask: () => Promise<GitResult>): Promise<GitResult> {
  for (let tries = 1; ; tries++) {
    const result = await ask();
    if (result.code === 0 || tries === MOST_TRIES || !isHalfMade(result)) return result;
    await sleep(AGAIN_MS * tries);
  }
}

export function isHalfMade({ stderr }: GitResult): boolean {
  return /failed to read .*worktrees\//.test(stderr);
}

/** Returns the commit that a name refers to, or undefined. */
export async function commitOf(directory: string, name: string, env?: Environment): Promise<string | undefined> {
  const { code, stdout } = await tryGit(directory, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], { env });
  return code === 0 ? stdout.trim() : undefined;
}

/** Resolves many names in one process. Names without a commit are omitted. */
export async function commitsOf(
  directory: string,
  names: readonly string[],
  options: Pick<GitOptions, "env" | "with"> = {},
): Promise<Map<string, string>> {
  const asked = [...new Set(names)].filter((name) => !name.includes("\n"));
  const input = asked.map((name) => `${name}^{commit}\n`).join("");
  const text = await git(directory, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], { ...options, input });
  const commits = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const name = asked[index];
    const commit = /^([0-9a-f]+) commit$/.exec(line)?.[1];
    if (name !== undefined && commit !== undefined) commits.set(name, commit);
  }
  return commits;
}
