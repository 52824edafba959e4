/**
 * Saves a working tree as a commit: changes, deletions and new files, without ignored files. Branch, index and stash are not touched, even while an
 * agent is committing. The parent is what is checked out, so those commits are kept too.
 *
 * Content that git cannot or should not keep is left out and listed: new files above a limit, unreadable files, and the contents of nested
 * repositories (submodules, clones). Line endings and filters work as in any commit. If a filter fails (LFS configured but not installed), the
 * files are saved unfiltered.
 *
 * No ref names the commit until the caller makes one; git keeps such a commit for two weeks.
 */
import { lstat } from "node:fs/promises";
import type { LeftOut } from "@holdfast/contract";
import { type Environment, GitError, git, parts, tryGit } from "./git.ts";
import { addLinks, gitLinksIn } from "./links.ts";
import { type PrivateIndex, privateIndex, QUIET_SETTINGS } from "./private-index.ts";

/** Larger new files are rarely anybody's work: a core dump, a model, a disk image. */
export const LARGE_FILE = 50 << 20;

export interface SnapshotOptions {
  env?: Environment | undefined;
  /** The commit's message. */
  message: string;
  /** Commits to keep besides what is checked out. */
  also?: readonly string[] | undefined;
  /** Larger new files are left out, in bytes. */
  largeFile?: number;
}

/** The saved state. */
export interface Taken {
  tree: string;
  /** The commit that was checked out; null before the first. */
  head: string | null;
  /** Without `refs/heads/`; null if the head is detached. */
  branch: string | null;
  leftOut: LeftOut[];
}

export interface Snapshot extends Taken {
  commit: string;
}

/** `worktree`: the top of a working tree. */
export async function takeSnapshot(worktree: string, options: SnapshotOptions): Promise<Snapshot> {
  const taken = await takeTree(worktree, options);
  return { ...taken, commit: await commitSnapshot(worktree, taken, options) };
}

/** Saves a tree without a commit, for a comparison. */
export async function takeTree(worktree: string, options: Omit<SnapshotOptions, "message"> = {}): Promise<Taken> {
  await using index = await privateIndex(worktree, options.env);
  return await fillIndex(index, worktree, options);
}

/** Updates the private index to match the working tree. */
export async function fillIndex(index: PrivateIndex, worktree: string, options: Omit<SnapshotOptions, "message"> = {}): Promise<Taken> {
  // Read the head before the files: a commit made in between is then part of the tree, not missing from it.
  const at = await whatIsCheckedOut(worktree, options.env);
  await assumeNothing(index);
  return await orWithoutFilters(worktree, options.env, async (settings) => {
    const leftOut = await add(index, { worktree, settings, limit: options.largeFile ?? LARGE_FILE, env: options.env });
    // `write-tree` may also run filters.
    return { ...at, tree: await index.git([...settings, "write-tree"]), leftOut };
  });
}

/** Clears `assume-unchanged` marks in the private index. Such a file may have changed, and an unsaved change could be overwritten. */
async function assumeNothing(index: PrivateIndex): Promise<void> {
  const marked = parts(await index.git(["ls-files", "-v", "-z"], { encoding: "latin1" })).filter((line) => /^[a-z] /.test(line));
  if (marked.length === 0) return;
  const input = bytes(marked.map((line) => `${line.slice(2)}\0`).join(""));
  await index.git(["update-index", "--no-assume-unchanged", "-z", "--stdin"], { input });
}

export async function commitSnapshot(worktree: string, taken: Taken, { message, env, also = [] }: SnapshotOptions): Promise<string> {
  const parents = [...(taken.head === null ? [] : [taken.head]), ...also].flatMap((commit) => ["-p", commit]);
  const args = [...QUIET_SETTINGS, "-c", "i18n.commitEncoding=UTF-8", "commit-tree", taken.tree, ...parents];
  return await git(worktree, args, { env, with: identity(), input: message });
}

export async function whatIsCheckedOut(worktree: string, env?: Environment): Promise<{ head: string | null; branch: string | null }> {
  const ref = await tryGit(worktree, ["symbolic-ref", "--quiet", "HEAD"], { env });
  const head = await tryGit(worktree, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { env });
  return {
    head: head.code === 0 ? head.stdout.trim() : null,
    branch: ref.code === 0 ? ref.stdout.replace(/\n$/, "").replace(/^refs\/heads\//, "") : null,
  };
}

/** Runs with the configured filters. If git fails and filters exist, runs again without them. */
export async function orWithoutFilters<T>(
  worktree: string,
  env: Environment | undefined,
  act: (settings: string[]) => Promise<T>,
): Promise<T> {
  try {
    return await act([]);
  } catch (error) {
    const settings = error instanceof GitError ? await noFilters(worktree, env) : [];
    if (settings.length === 0) throw error;
    return await act(settings);
  }
}

/** Returns settings that disable every configured filter; empty if none is configured. */
export async function noFilters(worktree: string, env: Environment | undefined): Promise<string[]> {
  const { stdout } = await tryGit(
    worktree,
    ["config", "--name-only", "-z", "--get-regexp", String.raw`^filter\..*\.(clean|smudge|process)$`],
    { env },
  );
  const filters = new Set(parts(stdout).map((key) => key.slice(0, key.lastIndexOf("."))));
  return [...filters].flatMap((filter) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((rest) => ["-c", `${filter}.${rest}`]),
  );
}

async function add(
  index: PrivateIndex,
  { worktree, settings, limit, env }: { worktree: string; settings: readonly string[]; limit: number; env: Environment | undefined },
): Promise<LeftOut[]> {
  const seen = await look(index, settings);
  const large = await largerThan(limit, worktree, seen.newFiles);
  const links = await gitLinksIn(index);
  // In a nested repository, `add` would record only a commit id, or fail without one. In a submodule it would use the submodule's configuration.
  const not = [...large, ...seen.repositories, ...links].map((path) => `:(top,exclude,literal)${path}`);
  const command = [...settings, "add", "--all", "--sparse", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await index.tryGit(command, { input: bytes([":(top)", ...not].join("\0")) });
  if (added.code > 1) throw new GitError(command, added);
  const submodules = await addLinks(index, { worktree, links, env });
  const unreadable = added.code === 0 ? [] : await stillOut(index, settings, large);
  return [
    ...large.map((path) => ({ path: readable(path), why: "large" as const })),
    ...unreadable.map((path) => ({ path: readable(path), why: "unreadable" as const })),
    ...[...seen.repositories, ...submodules].map((path) => ({ path: readable(path), why: "repository" as const })),
  ];
}

async function stillOut(index: PrivateIndex, settings: readonly string[], large: readonly string[]): Promise<string[]> {
  const { newFiles, changed } = await look(index, settings);
  return [...newFiles, ...changed].filter((path) => !large.includes(path));
}

/** Paths in `latin1`: one character per byte. */
interface Seen {
  newFiles: string[];
  /** Tracked files that differ from the index. */
  changed: string[];
  /** Nested clones and worktrees, but not submodules. */
  repositories: string[];
}

async function look(index: PrivateIndex, settings: readonly string[]): Promise<Seen> {
  const status = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--no-renames"];
  const seen: Seen = { newFiles: [], changed: [], repositories: [] };
  for (const line of parts(await index.git([...settings, ...status], { encoding: "latin1" }))) {
    if (line.startsWith("? ")) (line.endsWith("/") ? seen.repositories : seen.newFiles).push(line.slice(2));
    else if (/^1 .[MT] N/.test(line)) seen.changed.push(pathOf(line));
  }
  return seen;
}

function pathOf(line: string): string {
  return line.split(" ").slice(8).join(" ");
}

async function largerThan(limit: number, worktree: string, paths: readonly string[]): Promise<string[]> {
  const AT_ONCE = 64;
  const large: string[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    const some = paths.slice(from, from + AT_ONCE);
    const sizes = await Promise.all(some.map((path) => sizeOf(Buffer.concat([Buffer.from(`${worktree}/`), bytes(path)]))));
    large.push(...some.filter((_, index) => (sizes[index] ?? 0) > limit));
  }
  return large;
}

/** A file that is already gone has size 0. */
function sizeOf(path: Buffer): Promise<number> {
  return lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function bytes(latin1: string): Buffer {
  return Buffer.from(latin1, "latin1");
}

function readable(latin1: string): string {
  return bytes(latin1).toString();
}

/** Holdfast's identity: a repository may have no user.name, and no person makes these commits. */
function identity(): Record<string, string> {
  const date = `${Math.floor(Date.now() / 1000)} +0000`;
  const name = "Holdfast";
  const email = "holdfast@localhost";
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
}
