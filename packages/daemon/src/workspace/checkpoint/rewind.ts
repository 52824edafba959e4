/**
 * Rewinds a workspace to a checkpoint. The order ensures that an interruption loses nothing, and a second rewind completes the first:
 *
 * 1. The current state is saved as a checkpoint. From here on all of it can be restored.
 * 2. Git writes the checkpoint's files from a private index that matches the saved state. It overwrites and deletes only saved files, and if
 *    somebody wrote in the meantime it refuses before changing anything. Then both steps are repeated.
 * 3. The branch is moved and checked out.
 * 4. The index is reset, so nothing is staged.
 *
 * Ignored files stay (those ignored now, and those ignored then: ignored-then.ts). So does everything that no checkpoint keeps: large new files and
 * nested repositories.
 */
import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { type Checkpoint, HoldfastError } from "@holdfast/contract";
import { isAncestor } from "../git/combine.ts";
import { firstLine, GitError, type GitResult, git } from "../git/git.ts";
import { bytesOf } from "../git/links.ts";
import { type PrivateIndex, privateIndex, QUIET_SETTINGS } from "../git/private-index.ts";
import { commitOf, listTrees } from "../git/repository.ts";
import { fillIndex, noFilters, orWithoutFilters, type Taken, whatIsCheckedOut } from "../git/snapshot.ts";
import { underWay } from "../git/uncommitted.ts";
import { type CreateOptions, keepAsCheckpoint, listCheckpoints, type Place } from "./checkpoints.ts";
import { names, withIgnoredThen } from "./ignored-then.ts";

export interface RewindOptions extends Pick<CreateOptions, "keep" | "session" | "largeFile"> {
  /** Rewinds only the files, not the branch. */
  filesOnly?: boolean;
}

/** Returns a checkpoint of the state before the rewind. */
export async function rewind(place: Place, to: Checkpoint, options: RewindOptions = {}): Promise<Checkpoint> {
  await refuseWhileBusy(place);
  if (!options.filesOnly) await refuseIfElsewhere(place, to);
  const before = await bringBackFiles(place, to, options);
  try {
    if (!options.filesOnly) await bringBackBranch(place, { to, before });
    await unstage(place);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new HoldfastError(
      "git_failed",
      `the files are those of checkpoint ${to.number}, but the rewind is incomplete: ${error.message}`,
      {
        hint: `rewind again to complete it; the state before is checkpoint ${before.number}`,
        cause: error,
      },
    );
  }
  return before;
}

async function refuseWhileBusy({ worktree, env }: Place): Promise<void> {
  const what = await underWay(worktree, { env });
  if (what !== undefined)
    throw new HoldfastError("rewind_refused", `${what} is in progress in ${worktree}; nothing was changed`, {
      hint: "finish or abort it first; run git status there",
    });
  if (existsSync(await git(worktree, ["rev-parse", "--path-format=absolute", "--git-path", "index.lock"], { env })))
    throw new HoldfastError("rewind_refused", `a git command is running in ${worktree}; nothing was changed`, {
      hint: "try again when it has ended; if none is running, delete the index.lock file in its git directory",
    });
}

/** Git allows a branch in one working tree only. */
async function refuseIfElsewhere({ worktree, env }: Place, { branch, number }: Checkpoint): Promise<void> {
  const now = await whatIsCheckedOut(worktree, env);
  if (branch === null || branch === now.branch) return;
  const other = (await listTrees(worktree, env)).find((tree) => tree.branch === branch);
  if (!other) return;
  throw new HoldfastError("rewind_refused", `checkpoint ${number} was on the branch ${branch}, which is now checked out in ${other.path}`, {
    hint: "rewind only the files: holdfast checkpoint rewind --files-only",
  });
}

/** A program that writes constantly would cause endless retries. */
const MOST_TRIES = 3;

/** Git's messages if changed files made it refuse. */
const NOT_AS_KNOWN = /not uptodate|would be (?:overwritten|removed)|would lose untracked/;

async function bringBackFiles(place: Place, to: Checkpoint, options: RewindOptions): Promise<Checkpoint> {
  const others = await wereNotIgnored(place, to);
  let before: Checkpoint | undefined;
  let settings: string[] = [];
  for (let tries = 1; ; tries++) {
    await using index = await privateIndex(place.worktree, place.env);
    const now = await takeAll(index, place, { to, largeFile: options.largeFile });
    if (before?.tree !== now.tree) {
      const also = options.filesOnly ? [] : await otherTip(place, to, now);
      const kept = await keepAsCheckpoint(place, now, { why: "rewind", rewoundTo: to.number, also, ...options });
      before ??= kept;
    }
    const then = await withIgnoredThen(index, { now: now.tree, goal: to.tree, others });
    const done = await index.tryGit([...settings, "read-tree", "-m", "-u", now.tree, then]);
    if (done.code === 0) return before;
    if (tries >= MOST_TRIES) throw inTheWay(to, before, done);
    // A filter may fail after some files were written: read the state again and continue without filters.
    if (!NOT_AS_KNOWN.test(done.stderr)) settings = await noFilters(place.worktree, place.env);
  }
}

/**
 * Returns trees whose files the checkpoint would contain even if ignored: its commit, because git ignores no tracked files, and the target of a
 * rewind that saved it.
 */
async function wereNotIgnored({ worktree, workspace, env }: Place, { head, rewoundTo }: Checkpoint): Promise<string[]> {
  const all = rewoundTo === null ? [] : await listCheckpoints(worktree, workspace, env);
  const gone = all.find(({ number }) => number === rewoundTo)?.tree;
  return [head, gone].filter((tree) => typeof tree === "string");
}

/** Includes ignored files in the place of the checkpoint's files, because git would overwrite them. */
async function takeAll(index: PrivateIndex, { worktree, env }: Place, { to, largeFile }: Target): Promise<Taken> {
  const taken = await fillIndex(index, worktree, { env, ...(largeFile === undefined ? {} : { largeFile }) });
  const there = new Set<string>();
  for (const path of await names(index, "A", taken.tree, to.tree)) {
    const found = await whatIsAt(worktree, path);
    if (found?.isDirectory) await refuseIfNotKept(index, to, path);
    else if (found) there.add(found.path);
  }
  if (there.size === 0) return taken;
  await index.git(["update-index", "--add", "-z", "--stdin"], { input: bytesOf(there) });
  return { ...taken, tree: await index.git(["write-tree"]) };
}

interface Target {
  to: Checkpoint;
  largeFile: number | undefined;
}

/** Returns the file at the path, or the one in place of a directory that the path needs. */
async function whatIsAt(worktree: string, path: string): Promise<{ path: string; isDirectory: boolean } | undefined> {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
    const found = await lstat(Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(at, "latin1")])).catch(() => undefined);
    if (found?.isDirectory() && at !== path) return undefined;
    if (found) return { path: at, isDirectory: found.isDirectory() };
  }
  return undefined;
}

/** Refuses to replace a directory of ignored files, such as installed packages: it is too large to save on the way. */
async function refuseIfNotKept(index: PrivateIndex, to: Checkpoint, path: string): Promise<void> {
  const others = await index.git(["ls-files", "--others", "--directory", "-z", "--", `:(top,literal)${Buffer.from(path, "latin1")}`]);
  if (others === "") return;
  const name = Buffer.from(path, "latin1").toString();
  throw new HoldfastError(
    "rewind_refused",
    `${name} is a directory with ignored files, and a file in checkpoint ${to.number}; nothing was changed`,
    {
      hint: "move it away first",
      candidates: [name],
    },
  );
}

/** The checkpoint's branch may have newer commits and no longer be checked out. */
async function otherTip({ worktree, env }: Place, { branch }: Checkpoint, now: Taken): Promise<string[]> {
  const tip = branch === null ? undefined : await commitOf(worktree, `refs/heads/${branch}`, env);
  return tip === undefined || tip === now.head ? [] : [tip];
}

function inTheWay(to: Checkpoint, before: Checkpoint, { stderr }: GitResult): HoldfastError {
  return new HoldfastError("rewind_refused", `the files of checkpoint ${to.number} cannot be put in place: ${firstLine(stderr)}`, {
    hint: `move the file in the way, or stop the program that writes there, and rewind again; the state before is checkpoint ${before.number}`,
  });
}

async function bringBackBranch({ worktree, env }: Place, { to, before }: { to: Checkpoint; before: Checkpoint }): Promise<void> {
  const { head, branch, number } = to;
  const reason = `holdfast: rewind to checkpoint ${number}`;
  const run = (...args: string[]) => git(worktree, [...QUIET_SETTINGS, ...args], { env });
  const ref = branch === null ? "HEAD" : `refs/heads/${branch}`;
  const tip = await commitOf(worktree, ref, env);
  // A commit made after the save would remain only in the reflog.
  if (tip !== undefined && tip !== head && !(await isAncestor(worktree, tip, before.commit, { env }))) throw movedOn(to, before);
  if (branch === null) {
    if (head !== null) await run("update-ref", "--no-deref", "-m", reason, ref, head);
    return;
  }
  if (head !== null) await run("update-ref", "-m", reason, ref, head, tip ?? "");
  else if (tip !== undefined) await run("update-ref", "-m", reason, "-d", ref, tip);
  const now = await whatIsCheckedOut(worktree, env);
  if (now.branch !== branch) await run("symbolic-ref", "-m", reason, "HEAD", ref);
}

function movedOn({ number }: Checkpoint, before: Checkpoint): HoldfastError {
  return new HoldfastError(
    "rewind_refused",
    `another commit was made at the same moment: the files are those of checkpoint ${number}, the branch did not move`,
    {
      hint: `rewind again to move the branch too; the state before is checkpoint ${before.number}`,
    },
  );
}

async function unstage({ worktree, env }: Place): Promise<void> {
  const { head } = await whatIsCheckedOut(worktree, env);
  await orWithoutFilters(worktree, env, async (settings) => {
    const run = (...args: string[]) => git(worktree, [...QUIET_SETTINGS, ...settings, ...args], { env });
    await run("read-tree", ...(head === null ? ["--empty"] : ["--reset", head]));
    // Saves the next status from reading every file. The exit code only says that files differ from the commit.
    await run("update-index", "-q", "--refresh").catch(() => {});
  });
}
