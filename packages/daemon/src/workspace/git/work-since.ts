/**
 * Reports the work in a git directory since a given time: commits and changed files. Writes nothing and takes no lock, because an agent may be
 * working.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Commit, WorkDone } from "@holdfast/contract";
import { type GitOptions, git, parts, tryGit } from "./git.ts";

/** The starting point: a time, and the commit that was checked out then, if known. */
export interface Moment {
  commit: string | null;
  at: string;
}

/** `trees`: two saved states to compare instead of the current files. */
export interface Asked {
  from: Moment;
  files: boolean;
  trees?: { from: string; to: string; turn: number | null } | undefined;
}

const MOST = 50;

/** Returns undefined if there is no repository, or git cannot read it. */
export async function workSince(directory: string, asked: Asked, options: GitOptions): Promise<WorkDone | undefined> {
  if (!existsSync(directory)) return undefined;
  const { stdout: top, code } = await tryGit(directory, ["rev-parse", "--show-toplevel"], options);
  if (code !== 0) return undefined;
  const [head, named] = await Promise.all([
    headOf(directory, options),
    tryGit(directory, ["symbolic-ref", "--short", "--quiet", "HEAD"], options),
  ]);
  const branch = named.code === 0 ? named.stdout.trim() : null;
  const none = { directory: top.replace(/\n$/, ""), branch, head, commitCount: 0, commits: [], changed: null };
  if (head === null) return none;
  const begin = await beginningOf(directory, asked.from, options);
  const range = begin === null ? [`--since=${asked.from.at}`, head] : [`${begin}..${head}`];
  const [commitCount, commits] = begin === head ? [0, []] : await commitsOf(directory, range, options);
  const changed = asked.files ? await changedFiles(none.directory, { trees: asked.trees, begin, head, commitCount }, options) : null;
  return { ...none, commitCount, commits, changed };
}

/** True if a `.git` exists in the directory or above it. Avoids starting git, which is slower than everything else. */
export function mayBeInTree(directory: string): boolean {
  if (!existsSync(directory)) return false;
  for (let at = realpathSync(directory); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (dirname(at) === at) return false;
  }
}

/** Returns the checked-out commit; null before the first commit or without a repository. */
export async function headOf(directory: string, options: GitOptions): Promise<string | null> {
  const { code, stdout } = await tryGit(directory, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], options);
  return code === 0 ? stdout.trim() : null;
}

/** Returns null if unknown; the caller then uses commit times. */
async function beginningOf(directory: string, { commit, at }: Moment, options: GitOptions): Promise<string | null> {
  if (commit !== null && (await tryGit(directory, ["cat-file", "-e", `${commit}^{commit}`], options)).code === 0) return commit;
  const log = await tryGit(directory, ["log", "-g", "--date=unix", "--format=%H %gd %gs", "HEAD", "--"], options);
  const entries = (log.code === 0 ? log.stdout.split("\n") : []).flatMap((line) => {
    const [, hash = "", time, what = ""] = /^([0-9a-f]+) \S*\{(\d+)\} ?(.*)$/.exec(line) ?? [];
    return time === undefined ? [] : [{ hash, time: Number(time), what }];
  });
  // Reflog times are whole seconds: reporting a commit twice is better than missing it.
  const then = Math.floor(Date.parse(at) / 1000);
  const before = entries.find(({ time }) => time < then);
  if (before) return before.hash;
  // The tree was created since, by a clone or as a worktree, so its first commit was made elsewhere.
  const first = entries.at(-1);
  return first && !first.what.startsWith("commit") ? first.hash : null;
}

/** Follows first parents only: a merge counts as one commit. */
async function commitsOf(directory: string, range: readonly string[], options: GitOptions): Promise<[number, Commit[]]> {
  const format = "--format=%H%x1f%cI%x1f%an%x1f%s";
  const log = ["-c", "log.showSignature=false", "log", "-z", "--first-parent", "--no-color", `--max-count=${MOST}`, format];
  const [count, text] = await Promise.all([
    git(directory, ["rev-list", "--count", "--first-parent", ...range, "--"], options),
    git(directory, [...log, ...range, "--"], options),
  ]);
  const commits = parts(text).map((entry) => {
    const [hash = "", at = "", author = "", subject = ""] = entry.split("\x1f");
    return { hash, at, author, subject };
  });
  return [Number(count), commits.reverse()];
}

async function changedFiles(
  tree: string,
  { trees, begin, head, commitCount }: { trees: Asked["trees"]; begin: string | null; head: string; commitCount: number },
  options: GitOptions,
): Promise<WorkDone["changed"]> {
  const numbers = ["diff", "--no-ext-diff", "--ignore-submodules=dirty", "--numstat", "-z", "--no-renames"];
  if (trees) {
    const kept = await tryGit(tree, [...numbers, trees.from, trees.to, "--"], options);
    if (kept.code === 0) return counted(filesIn(kept.stdout), trees.turn);
  }
  // The reflog does not reach back far enough: start at the parent of the first commit.
  const from = begin ?? (commitCount === 0 ? head : await parentOfFirst(tree, { head, commitCount }, options));
  const [tracked, fresh] = await Promise.all([
    git(tree, [...numbers, from, "--"], options),
    git(tree, ["ls-files", "--others", "--exclude-standard", "-z"], options),
  ]);
  return counted([...filesIn(tracked), ...parts(fresh).map((path) => ({ path, insertions: null, deletions: null }))], null);
}

async function parentOfFirst(
  tree: string,
  { head, commitCount }: { head: string; commitCount: number },
  options: GitOptions,
): Promise<string> {
  const { code, stdout } = await tryGit(tree, ["rev-parse", "--verify", "--quiet", `${head}~${commitCount}`], options);
  return code === 0 ? stdout.trim() : git(tree, ["hash-object", "-t", "tree", "--stdin"], options);
}

type Changed = NonNullable<WorkDone["changed"]>["list"];

function filesIn(numstat: string): Changed {
  return parts(numstat).map((entry) => {
    const [added = "-", removed = "-", ...path] = entry.split("\t");
    const lines = (text: string) => (text === "-" ? null : Number(text));
    return { path: path.join("\t"), insertions: lines(added), deletions: lines(removed) };
  });
}

function counted(files: Changed, untilTurn: number | null): WorkDone["changed"] {
  const sum = (key: "insertions" | "deletions") => files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { files: files.length, insertions: sum("insertions"), deletions: sum("deletions"), untilTurn, list: files.slice(0, MOST) };
}
