/**
 * Finds work that would be lost with a workspace's directory and its own branch. A commit is safe if another branch, a tag, a remote or the base
 * reaches it, or if the base has its content through a local or remote squash. Takes no lock and changes nothing.
 */
import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Losses } from "@holdfast/contract";
import { combine, earlierSquash, isAncestor } from "../git/combine.ts";
import { gitLinks, isCheckedOut } from "../git/dirty-submodules.ts";
import { type GitOptions, git, tryGit } from "../git/git.ts";
import { commitOf } from "../git/repository.ts";
import { uncommitted, underWay } from "../git/uncommitted.ts";

export interface Kept {
  repo: string;
  /** The working tree, which may no longer exist. */
  path: string;
  branch: string | null;
  /** True if the branch is removed with the workspace. */
  ownBranch: boolean;
  base: string | null;
  baseCommit: string | null;
  /** The last workspace commit that was merged, and the resulting commit. */
  mergedTip: string | null;
  mergedCommit: string | null;
}

/** Further commits are counted, not listed. */
const MOST_COMMITS = 100;

export async function lossesOf(workspace: Kept, options: GitOptions): Promise<Omit<Losses, "sessions">> {
  const tree = existsSync(workspace.path) ? workspace.path : undefined;
  const commits = await lostCommits(workspace, tree, options);
  if (tree === undefined) return { files: [], commits };
  const files = await uncommitted(tree, options);
  const busy = await underWay(tree, options);
  const inside = await insideRepositories(tree, files, options);
  return {
    files: [...files, ...(busy === undefined ? [] : [`(${busy} in progress)`]), ...inside.files],
    commits: [...commits, ...inside.commits],
  };
}

async function lostCommits(workspace: Kept, tree: string | undefined, options: GitOptions): Promise<string[]> {
  const { repo, branch, ownBranch } = workspace;
  const head = tree === undefined ? undefined : await commitOf(tree, "HEAD", options.env);
  const own = ownBranch && branch !== null ? await commitOf(repo, `refs/heads/${branch}`, options.env) : undefined;
  const tips = [...new Set([head, own].filter((tip) => tip !== undefined))];
  const lost: string[] = [];
  for (const tip of tips) {
    const commits = await unreachable(workspace, tip, options);
    if (commits.length > 0 && !(await isContained(workspace, tip, options))) lost.push(...commits);
  }
  return [...new Set(lost)];
}

async function unreachable(workspace: Kept, tip: string, options: GitOptions): Promise<string[]> {
  const { repo, branch, ownBranch, baseCommit } = workspace;
  const except = ownBranch && branch !== null ? [`--exclude=${branch}`] : [];
  const began = baseCommit === null ? undefined : await commitOf(repo, baseCommit, options.env);
  const stays = [...(await basesOf(workspace, options)), began, await mergedOf(workspace, options)].filter(
    (commit) => commit !== undefined,
  );
  return commitLines(repo, [tip, "--not", ...except, "--branches", "--remotes", "--tags", ...stays], options);
}

/** Current tips of the base: local, and as last fetched. A tag may share a branch's name. */
async function basesOf({ repo, base }: Kept, options: GitOptions): Promise<string[]> {
  if (base === null) return [];
  const names = [`refs/heads/${base}`, `refs/remotes/${base}`, `${base}@{upstream}`];
  const found = (await Promise.all(names.map((name) => commitOf(repo, name, options.env)))).filter((commit) => commit !== undefined);
  const plain = found.length === 0 ? await commitOf(repo, base, options.env) : undefined;
  return [...new Set(plain === undefined ? found : [plain])];
}

/** Returns the merged tip, if the merge result is still on some ref: it may have been undone. */
async function mergedOf({ repo, branch, mergedTip, mergedCommit }: Kept, options: GitOptions): Promise<string | undefined> {
  if (mergedTip === null || mergedCommit === null || (await commitOf(repo, mergedCommit, options.env)) === undefined) return undefined;
  const args = ["for-each-ref", "--format=%(refname)", `--contains=${mergedCommit}`, "refs/heads", "refs/remotes", "refs/tags"];
  const holders = (await git(repo, args, options)).split("\n").filter((ref) => ref !== "" && ref !== `refs/heads/${branch}`);
  return holders.length > 0 ? commitOf(repo, mergedTip, options.env) : undefined;
}

async function commitLines(directory: string, range: readonly string[], options: GitOptions): Promise<string[]> {
  const text = await git(directory, ["log", `--max-count=${MOST_COMMITS + 1}`, "--format=%h %s", ...range], options);
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length <= MOST_COMMITS) return lines;
  const all = await git(directory, ["rev-list", "--count", ...range], options);
  return [...lines.slice(0, MOST_COMMITS), `and ${Number(all) - MOST_COMMITS} more`];
}

/** True if the base has all commits of the workspace, or their content. */
export async function isMerged(workspace: Kept, tip: string, options: GitOptions): Promise<boolean> {
  for (const commit of [...(await basesOf(workspace, options)), await mergedOf(workspace, options)]) {
    if (commit !== undefined && (await isAncestor(workspace.repo, tip, commit, options))) return true;
  }
  return isContained(workspace, tip, options);
}

/** True if merging would change nothing: the base, local or as last fetched, has all of the content. */
async function isContained(workspace: Kept, tip: string, options: GitOptions): Promise<boolean> {
  const { repo, mergedTip, mergedCommit } = workspace;
  const merged = (await mergedOf(workspace, options)) === undefined ? null : mergedTip;
  for (const base of await basesOf(workspace, options)) {
    // Commits that add up to no change look merged into every base, but are still work.
    const common = await tryGit(repo, ["merge-base", base, tip], options);
    if (common.code !== 0 || (await treeId(repo, common.stdout.trim(), options)) === (await treeId(repo, tip, options))) continue;
    const since = await earlierSquash(
      { directory: repo, base, tip, squashed: merged && mergedCommit ? { tip: merged, commit: mergedCommit } : undefined },
      options,
    );
    // If git is too old for such a merge, the answer is no.
    const combined = await combine({ directory: repo, base, tip, merged: since }, options).catch(() => undefined);
    if (combined && "tree" in combined && combined.tree === (await treeId(repo, base, options))) return true;
  }
  return false;
}

function treeId(directory: string, commit: string, options: GitOptions): Promise<string> {
  return git(directory, ["rev-parse", `${commit}^{tree}`], options);
}

/** Losses in submodules and other nested repositories, whose objects are deleted with the tree. */
async function insideRepositories(tree: string, files: readonly string[], options: GitOptions): Promise<Omit<Losses, "sessions">> {
  const losses = { files: [] as string[], commits: [] as string[] };
  for (const path of await repositoriesIn(tree, files, options)) {
    const directory = join(tree, path);
    const changed = await uncommitted(directory, options);
    const inside = await insideRepositories(directory, changed, options);
    const commits = await commitLines(directory, ["--all", "--not", "--remotes"], options).catch(() => []);
    losses.files.push(...[...changed, ...inside.files].map((line) => `${line.slice(0, 3)}${path}/${line.slice(3)}`));
    losses.commits.push(...[...commits, ...inside.commits].map((line) => `${path}: ${line}`));
  }
  return losses;
}

export async function repositoriesIn(tree: string, files: readonly string[], options: GitOptions): Promise<string[]> {
  // Of a name that is not UTF-8, `uncommitted` reports the whole submodule.
  const links = (await gitLinks(tree, options)).filter((link) => isUtf8(link) && isCheckedOut(tree, link));
  const unknown = files.filter((line) => line.startsWith("?? ") && line.endsWith("/")).map((line) => line.slice(3, -1));
  return [...links.map(String), ...unknown.filter((path) => existsSync(join(tree, path, ".git")))];
}
