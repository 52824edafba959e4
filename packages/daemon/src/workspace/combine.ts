/**
 * Merges in the object database alone: no index, no working tree, no ref. What comes out is a commit that nothing names yet, so that a merge which
 * cannot be has changed nothing, and one that was cut short has left nothing but objects for git's own collection.
 */
import { HoldfastError } from "@holdfast/contract";
import { GitError, type GitOptions, git, parts, tryGit } from "./git.ts";
import { readOne } from "./merge-tree.ts";

export interface Sides {
  /** Any working tree of the repository; its attributes count. */
  directory: string;
  base: string;
  tip: string;
  /** A commit of the tip's side that the base has the content of, by an earlier squash: what came after it is all there is to bring. */
  merged?: string | undefined;
  /** What comes out is signed: they sign their commits. */
  sign?: boolean;
}

export type Combined = { tree: string } | { conflicts: string[] };

/** The tree of both sides, or the files in which they do not fit together. */
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
  /** The workspace's commit up to which it went, and the commit that it became. */
  tip: string;
  commit: string;
}

/** What the base has of the tip's side by an earlier squash; nothing where that was taken back since, or the tip's history was rewritten. */
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

/** Git ends so when it does not know an option. */
const USAGE = 129;

async function tooOld(directory: string): Promise<HoldfastError> {
  const version = (await git(directory, ["version"])).replace(/^git version /, "");
  return new HoldfastError("git_failed", `git ${version} merges only in a working tree`, {
    hint: "--squash and --rebase need git 2.38 or newer; without new commits on the base, neither is needed",
  });
}

/** One commit on top of the base that holds all of the other side's; the base itself where it holds that already. */
export async function squash(sides: Sides & { message: string }, options: GitOptions): Promise<string> {
  const combined = await combine(sides, options);
  if ("conflicts" in combined) throw conflict(combined.conflicts);
  if (combined.tree === (await git(sides.directory, ["rev-parse", `${sides.base}^{tree}`], options))) return sides.base;
  return commitTree({ ...sides, tree: combined.tree, parents: [sides.base] }, options);
}

/** Each commit of the other side anew on top of the base, by whom and when it was made; what the base has already is left out. */
export async function replay(sides: Sides, options: GitOptions): Promise<string> {
  const { directory } = sides;
  const commits = await commitsToReplay(sides, options);
  let head = sides.base;
  let tree = await git(directory, ["rev-parse", `${head}^{tree}`], options);
  for (const commit of commits) {
    // With the original's parent as its only parent, that parent is the one base of this merge: which is what a cherry-pick is.
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
  /** It changed nothing from the beginning, and so it is not the base that has it already. */
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
  // `-z` puts one more zero between two.
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

/** For one merge alone: it says which commits the two sides have in common. */
function standIn(commit: Omit<NewCommit, "message" | "sign">, options: GitOptions): Promise<string> {
  return commitTree({ ...commit, message: "stand-in" }, { ...options, with: { ...options.with, ...OURS } });
}

/** Of commits that are no person's, also where git does not know who asks. */
export const OURS = {
  GIT_AUTHOR_NAME: "Holdfast",
  GIT_AUTHOR_EMAIL: "holdfast@localhost",
  GIT_COMMITTER_NAME: "Holdfast",
  GIT_COMMITTER_EMAIL: "holdfast@localhost",
};

/** In the name of whoever the environment and the configuration say. */
export function commitTree({ directory, tree, parents, message, sign }: NewCommit, options: GitOptions): Promise<string> {
  const args = ["commit-tree", ...(sign ? ["-S"] : []), ...parents.flatMap((parent) => ["-p", parent]), "-F", "-", tree];
  return git(directory, args, { ...options, input: message.endsWith("\n") ? message : `${message}\n` });
}

/** Whether they want their commits signed, which `commit-tree` does not ask by itself. */
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
