/**
 * Merges in the object database only: no index, no working tree, no ref. The result is a commit without a ref. A failed merge changes nothing, and
 * an interrupted one leaves only objects for git's garbage collection.
 */
import { HoldfastError } from "@holdfast/contract";
import { GitError, type GitOptions, git, parts, tryGit } from "./git.ts";
import { readOne } from "./merge-tree.ts";

export interface Sides {
  /** Any working tree of the repository. Its attributes apply. */
  directory: string;
  base: string;
  tip: string;
  /** A commit on the tip's side whose content the base already has from an earlier squash. Only later commits are merged. */
  merged?: string | undefined;
  /** True if the user signs commits, so the result is signed too. */
  sign?: boolean;
}

export type Combined = { tree: string } | { conflicts: string[] };

/** Returns the merged tree, or the files in conflict. */
export async function combine({ directory, base, tip, merged }: Sides, options: GitOptions): Promise<Combined> {
  if (merged !== undefined) {
    const tree = await git(directory, ["rev-parse", `${base}^{tree}`], options);
    return combine({ directory, base: await standIn({ directory, tree, parents: [base, merged] }, options), tip }, options);
  }
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", base, tip];
  const result = await tryGit(directory, args, options);
  if (result.code === 0) return { tree: parts(result.stdout)[0] ?? "" };
  const conflicts = readOne(result);
  if (conflicts !== null) return { conflicts: [...conflicts] };
  if (result.code === USAGE) throw await tooOld(directory);
  throw new GitError(args, result);
}

export interface Squashed {
  /** The last workspace commit in the squash, and the commit that the squash made. */
  tip: string;
  commit: string;
}

/**
 * Returns the tip-side commit that an earlier squash brought into the base. Undefined if the squash was undone or the tip's history was rewritten.
 */
export async function earlierSquash(
  { directory, base, tip, squashed }: Pick<Sides, "directory" | "base" | "tip"> & { squashed: Squashed | undefined },
  options: GitOptions,
): Promise<string | undefined> {
  if (squashed === undefined) return undefined;
  const isThere = await isAncestor(directory, squashed.commit, base, options);
  return isThere && (await isAncestor(directory, squashed.tip, tip, options)) ? squashed.tip : undefined;
}

export async function isAncestor(directory: string, older: string, newer: string, options: GitOptions): Promise<boolean> {
  return (await tryGit(directory, ["merge-base", "--is-ancestor", older, newer], options)).code === 0;
}

/** Git's exit code for an unknown option. */
const USAGE = 129;

async function tooOld(directory: string): Promise<HoldfastError> {
  const version = (await git(directory, ["version"])).replace(/^git version /, "");
  return new HoldfastError("git_failed", `git ${version} merges only in a working tree`, {
    hint: "--squash and --rebase need git 2.38 or newer; without new commits on the base, neither is needed",
  });
}

/** Makes one commit on the base with all changes of the other side. Returns the base itself if it already has them. */
export async function squash(sides: Sides & { message: string }, options: GitOptions): Promise<string> {
  const combined = await combine(sides, options);
  if ("conflicts" in combined) throw conflict(combined.conflicts);
  if (combined.tree === (await git(sides.directory, ["rev-parse", `${sides.base}^{tree}`], options))) return sides.base;
  return commitTree({ ...sides, tree: combined.tree, parents: [sides.base] }, options);
}

/** Replays each commit of the other side on the base, with its author and date. Skips commits whose changes the base already has. */
export async function replay(sides: Sides, options: GitOptions): Promise<string> {
  const { directory } = sides;
  const commits = await commitsToReplay(sides, options);
  let head = sides.base;
  let tree = await git(directory, ["rev-parse", `${head}^{tree}`], options);
  for (const commit of commits) {
    // With the original's parent as its only parent, that parent becomes the merge base, which makes this a cherry-pick.
    const base = await standIn({ directory, tree, parents: [commit.parent] }, options);
    const combined = await combine({ directory, base, tip: commit.id }, options);
    if ("conflicts" in combined) throw conflict(combined.conflicts, ` (in ${commit.id.slice(0, 8)} ${commit.subject})`);
    if (combined.tree === tree && !commit.isEmpty) continue;
    const anew = { directory, tree: combined.tree, parents: [head], message: commit.message, sign: sides.sign };
    head = await commitTree(anew, authoredBy(commit, options));
    tree = combined.tree;
  }
  return head;
}

interface Original {
  id: string;
  parent: string;
  /** True if the commit was empty from the start. Without this, an empty result would mean that the base has the change. */
  isEmpty: boolean;
  author: { name: string; email: string; date: string };
  subject: string;
  message: string;
}

const FORMAT = ["%H", "%P", "%T", "%an", "%ae", "%ad", "%s", "%B"].join("%x00");

async function commitsToReplay({ directory, base, tip, merged }: Sides, options: GitOptions): Promise<Original[]> {
  const without = merged === undefined ? [] : [`^${merged}`];
  const range = ["--reverse", "--topo-order", "--no-merges", "--date=raw", `--format=${FORMAT}%x00`, "-z", tip, `^${base}`, ...without];
  const fields = (await git(directory, ["log", ...range], options)).split("\0");
  const originals: Original[] = [];
  // `-z` adds one more NUL between commits.
  for (let at = 0; at + 7 < fields.length; at += 9) {
    const [id = "", parent = "", tree = "", name = "", email = "", date = "", subject = "", message = ""] = fields.slice(at, at + 8);
    if (parent === "") {
      throw new HoldfastError("merge_refused", `commit ${id.slice(0, 8)} ${subject} starts a separate history and cannot be rebased`, {
        hint: "merge as one commit: --squash",
      });
    }
    const isEmpty = (await git(directory, ["rev-parse", `${parent}^{tree}`], options)) === tree;
    originals.push({ id, parent, isEmpty, author: { name, email, date }, subject, message });
  }
  return originals;
}

function authoredBy({ author }: Original, options: GitOptions): GitOptions {
  const { name, email, date } = author;
  return { ...options, with: { ...options.with, GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${date}` } };
}

export interface NewCommit {
  directory: string;
  tree: string;
  parents: readonly string[];
  message: string;
  sign?: boolean | undefined;
}

/** Makes a temporary commit for one merge, whose parents define the merge base. */
function standIn(commit: Omit<NewCommit, "message" | "sign">, options: GitOptions): Promise<string> {
  return commitTree({ ...commit, message: "stand-in" }, { ...options, with: { ...options.with, ...OURS } });
}

/** Author of Holdfast's own commits. Also used where git has no identity for the caller. */
export const OURS = {
  GIT_AUTHOR_NAME: "Holdfast",
  GIT_AUTHOR_EMAIL: "holdfast@localhost",
  GIT_COMMITTER_NAME: "Holdfast",
  GIT_COMMITTER_EMAIL: "holdfast@localhost",
};

/** Commits as the identity in the environment or the configuration. */
export function commitTree({ directory, tree, parents, message, sign }: NewCommit, options: GitOptions): Promise<string> {
  const args = ["commit-tree", ...(sign ? ["-S"] : []), ...parents.flatMap((parent) => ["-p", parent]), "-F", "-", tree];
  return git(directory, args, { ...options, input: message.endsWith("\n") ? message : `${message}\n` });
}

/** True if the user signs commits. `commit-tree` does not read that setting. */
export async function signsCommits(directory: string, options: GitOptions): Promise<boolean> {
  return (await tryGit(directory, ["config", "--type=bool", "commit.gpgSign"], options)).stdout.trim() === "true";
}

function conflict(files: string[], where = ""): HoldfastError {
  const what = files.length === 1 ? "the same file" : `the same ${files.length} files`;
  return new HoldfastError("merge_conflict", `both sides changed ${what}${where}; nothing was changed`, {
    hint: "resolve it in the workspace: merge its base into it or rebase it, then try again",
    candidates: files,
  });
}
