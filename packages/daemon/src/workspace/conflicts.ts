/**
 * Which pairs of commits would not merge, and in which files. All pairs go to one process, for which a pair costs a fraction of a
 * millisecond; it gives up at the first that it cannot tell, so that one is asked by itself, and another process takes those after it.
 */
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { GitError, git, tryGit } from "./git.ts";
import { openScratch } from "./merge-scratch.ts";
import { ASK_MANY, askOne, manyInput, type Outcome, type Pair, readMany, readOne } from "./merge-tree.ts";
import type { Repository } from "./repository.ts";

export interface MergeQuestion {
  repository: Pick<Repository, "path" | "common" | "bare">;
  pairs: readonly Pair[];
  /** How the throw-away directories begin, below those of `scratchPlaces`. */
  scratchName: string;
  signal?: AbortSignal;
}

/** Git ends so when it does not know an option. */
const USAGE = 129;

/** What git says where it could not do its work, whatever the pair. */
const PASSING =
  /not a git repository|no space left|quota exceeded|out of memory|cannot allocate|too many open files|unable to (?:write|create)/i;

/** Of one process: what it writes into memory stays below 50 MB or so, and twenty workspaces with their base are 210 pairs. */
const AT_ONCE = 250;

/** In the pairs' order. Throws where the repository is gone, there is no room to try in, or git is too old for any of it. */
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

/** Of the first of them, up to one that could not be told. */
async function askMany({ repository, pairs, scratchName, signal }: MergeQuestion): Promise<(Outcome | undefined)[]> {
  const [place = tmpdir()] = scratchPlaces();
  await using scratch = openScratch(repository, join(place, scratchName));
  const options = { with: scratch.with, input: manyInput(pairs), ...(signal ? { signal } : {}) };
  const { code, stdout } = await tryGit(scratch.directory, ASK_MANY, options);
  if (code === USAGE) return pairs.map(() => undefined);
  const told = readMany(stdout).slice(0, pairs.length);
  // Killed, it may have been in the middle of the last.
  return code < 0 ? told.slice(0, -1) : told;
}

/**
 * Memory first: where a small file takes half a millisecond to make, a check of twenty workspaces would take a second for nothing else. What
 * does not fit there is asked for alone, on the disk.
 */
export function scratchPlaces(): string[] {
  return ["/dev/shm", tmpdir()].filter(isWritable);
}

async function askAlone({ repository, pair, scratchName, signal }: Omit<MergeQuestion, "pairs"> & { pair: Pair }): Promise<Outcome> {
  await using scratch = openScratch(repository, join(tmpdir(), scratchName));
  const result = await tryGit(scratch.directory, askOne(pair), { with: scratch.with, ...(signal ? { signal } : {}) });
  if (result.code === USAGE) throw await tooOld(scratch.directory);
  // Killed, without room or memory, or without a repository: that says nothing of the pair.
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
