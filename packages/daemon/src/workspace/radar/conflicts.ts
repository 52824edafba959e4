/**
 * Finds which pairs of commits would conflict, and in which files. One process gets all pairs, at a fraction of a millisecond each. It stops at the
 * first pair it cannot decide; that pair is checked alone, and another process takes the rest.
 */
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { GitError, git, tryGit } from "../git/git.ts";
import { openScratch } from "../git/merge-scratch.ts";
import { ASK_MANY, askOne, manyInput, type Outcome, type Pair, readMany, readOne } from "../git/merge-tree.ts";
import type { Repository } from "../git/repository.ts";

export interface MergeQuestion {
  repository: Pick<Repository, "path" | "common" | "bare">;
  pairs: readonly Pair[];
  /** Name prefix of the temporary directories in `scratchPlaces`. */
  scratchName: string;
  signal?: AbortSignal;
}

/** Git's exit code for an unknown option. */
const USAGE = 129;

/** Git's errors that have nothing to do with the pair. */
const PASSING =
  /not a git repository|no space left|quota exceeded|out of memory|cannot allocate|too many open files|unable to (?:write|create)/i;

/** Pairs per process. Keeps the memory it writes to below about 50 MB. Twenty workspaces with their base are 210 pairs. */
const AT_ONCE = 250;

/** Returns outcomes in the order of the pairs. Throws if the repository is gone, disk space is short, or git is too old. */
export async function askPairs({ pairs, ...question }: MergeQuestion): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < pairs.length) {
    const asked = pairs.slice(outcomes.length, outcomes.length + AT_ONCE);
    const told = await askMany({ ...question, pairs: asked });
    for (const [index, pair] of asked.entries()) {
      if (index > told.length) break;
      outcomes.push(told[index] ?? (await askAlone({ ...question, pair })));
    }
  }
  return outcomes;
}

/** Returns outcomes of the first pairs, up to one that git could not decide. */
async function askMany({ repository, pairs, scratchName, signal }: MergeQuestion): Promise<(Outcome | undefined)[]> {
  const [place = tmpdir()] = scratchPlaces();
  await using scratch = await openScratch(repository, join(place, scratchName));
  const options = { with: scratch.with, input: manyInput(pairs), ...(signal ? { signal } : {}) };
  const { code, stdout } = await tryGit(scratch.directory, ASK_MANY, options);
  if (code === USAGE) return pairs.map(() => undefined);
  const told = readMany(stdout).slice(0, pairs.length);
  // A killed process may have been cut off in its last record.
  return code < 0 ? told.slice(0, -1) : told;
}

/**
 * Prefers memory: at half a millisecond per small file, checking twenty workspaces would take an extra second. Pairs that do not fit there are
 * checked alone, on disk.
 */
export function scratchPlaces(): string[] {
  return ["/dev/shm", tmpdir()].filter(isWritable);
}

async function askAlone({ repository, pair, scratchName, signal }: Omit<MergeQuestion, "pairs"> & { pair: Pair }): Promise<Outcome> {
  await using scratch = await openScratch(repository, join(tmpdir(), scratchName));
  const result = await tryGit(scratch.directory, askOne(pair), { with: scratch.with, ...(signal ? { signal } : {}) });
  if (result.code === USAGE) throw await tooOld(scratch.directory);
  // A killed process, or one without disk space, memory or a repository, says nothing about the pair.
  if (result.code < 0 || PASSING.test(result.stderr)) throw new GitError(["merge-tree"], result);
  return readOne(result);
}

async function tooOld(directory: string): Promise<HoldfastError> {
  const version = (await git(directory, ["version"])).replace(/^git version /, "");
  return new HoldfastError("git_failed", `git ${version} cannot check whether two workspaces would merge`, {
    hint: "install git 2.38 or newer",
  });
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
