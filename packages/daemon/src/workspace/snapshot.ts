/**
 * A working tree as it is, kept as a commit: changes, deletions and new files; what is ignored is not in it. Branch, index and stash are left
 * alone, also while an agent is committing there. Its parent is what is checked out, so that those commits are kept with it.
 *
 * What git cannot or should not keep is left out and named: new files beyond a limit, files that cannot be read, the contents of repositories
 * within (submodules, clones). Line ends and filters are as in any commit; where a filter fails (LFS is configured and not installed), the
 * files are kept as they are.
 *
 * Nothing refers to the commit until its caller makes a ref: git keeps such a commit for two weeks.
 */
import { lstat } from "node:fs/promises";
import type { LeftOut } from "@holdfast/contract";
import { type Environment, GitError, git, parts, tryGit } from "./git.ts";
import { addLinks, gitLinksIn } from "./links.ts";
import { type PrivateIndex, privateIndex, QUIET_SETTINGS } from "./private-index.ts";

/** New files above this are most often no one's work: a core dump, a model, a disk image. */
export const LARGE_FILE = 50 << 20;

export interface SnapshotOptions {
  env?: Environment | undefined;
  /** The commit's message. */
  message: string;
  /** Commits to keep with it, beside what is checked out. */
  also?: readonly string[] | undefined;
  /** New files of more bytes are left out. */
  largeFile?: number;
}

/** What was there. */
export interface Taken {
  tree: string;
  /** The commit that was checked out; null before the first. */
  head: string | null;
  /** Without `refs/heads/`; null where the head is detached. */
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

/** Without a commit: to compare with, for now. */
export async function takeTree(worktree: string, options: Omit<SnapshotOptions, "message"> = {}): Promise<Taken> {
  await using index = await privateIndex(worktree, options.env);
  return await fillIndex(index, worktree, options);
}

/** Makes the private index what the working tree is. */
export async function fillIndex(index: PrivateIndex, worktree: string, options: Omit<SnapshotOptions, "message"> = {}): Promise<Taken> {
  // Before the files: a commit in between is then in the tree, and not missing from it.
  const at = await whatIsCheckedOut(worktree, options.env);
  await assumeNothing(index);
  return await orWithoutFilters(worktree, options.env, async (settings) => {
    const leftOut = await add(index, { worktree, settings, limit: options.largeFile ?? LARGE_FILE, env: options.env });
    // Also this may look at files, through their filters.
    return { ...at, tree: await index.git([...settings, "write-tree"]), leftOut };
  });
}

/** Some mark files as never changed and then change them. In the index of our own they are looked at: what is not kept could be overwritten. */
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

/** As configured; where a filter keeps git from working, once more with none. */
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

/** Settings under which no filter runs; none where none is configured. */
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
  // Within, `add` would keep a bare commit number of it, or fail where there is none yet; into a submodule it would look by that one's configuration.
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

/** Paths in `latin1`: each character one byte. */
interface Seen {
  newFiles: string[];
  /** And not in the index as they are now. */
  changed: string[];
  /** Not submodules: clones and worktrees that somebody made within. */
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

/** One that is gone again has none. */
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

/** Ours: a repository may have no user.name, and these commits are no person's. */
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
