/**
 * Named pipes and devices in place of files that git opens. Git waits forever for the other end of a pipe, and reads a device like /dev/zero without
 * end. Anyone who can write to a working tree can put one there. The usual files are checked before each command, all others once a command takes
 * long.
 */
import { type Stats, statSync } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { GitPlace } from "./place.ts";

/** Names that matter in any directory of a working tree. */
const IN_TREE: ReadonlySet<string> = new Set([".gitattributes", ".gitignore", ".gitmodules", ".lfsconfig", ".mailmap"]);

const IN_GIT_DIRECTORY = ["HEAD", "index", "commondir", "gitdir", "config.worktree", "info/sparse-checkout"];

const SHARED = ["config", "packed-refs", "shallow", ...["info/attributes", "info/exclude", "info/grafts", "objects/info/alternates"]];

/** Pipes that were found, until they are gone, so that no other command has to find them by waiting. */
const found = new Map<string, string>();

/** A pipe that is found without a search. */
export function pipeAtHand(place: GitPlace): string | undefined {
  const { gitDir, common, tree } = place;
  const known = found.get(gitDir);
  const paths = [
    ...(known === undefined ? [] : [known]),
    ...(tree === null ? [] : [...IN_TREE].map((name) => join(tree, name))),
    ...IN_GIT_DIRECTORY.map((name) => join(gitDir, name)),
    ...SHARED.map((name) => join(common, name)),
  ];
  const pipe = pipeAmong(paths);
  if (pipe === undefined) found.delete(gitDir);
  return pipe;
}

export function pipeAmong(paths: readonly string[]): string | undefined {
  return paths.find((path) => isPipe(statOf(path)));
}

/** Searches everywhere, reading every directory. */
export async function findPipe({ gitDir, common, tree }: GitPlace, signal: AbortSignal): Promise<string | undefined> {
  for (const top of new Set([gitDir, common, ...(tree === null ? [] : [tree])])) {
    const pipe = await findIn(top, { signal, isGit: top !== tree });
    if (pipe === undefined) continue;
    found.set(gitDir, pipe);
    return pipe;
  }
  return undefined;
}

/** In git's own directories any file may be one. */
async function findIn(top: string, { signal, isGit }: { signal: AbortSignal; isGit: boolean }): Promise<string | undefined> {
  const waiting = [{ path: top, isGit }];
  for (let at = waiting.pop(); at !== undefined && !signal.aborted; at = waiting.pop()) {
    const directory = await opendir(at.path).catch(() => undefined);
    if (directory === undefined) continue;
    for await (const entry of directory) {
      const path = join(at.path, entry.name);
      if (entry.isDirectory()) waiting.push({ path, isGit: at.isGit || entry.name === ".git" });
      else if (!entry.isFile() && (at.isGit || IN_TREE.has(entry.name)) && isPipe(await stat(path).catch(() => undefined))) return path;
    }
  }
  return undefined;
}

/** An error, not a result of git: callers would take a result as the answer to their question. */
export function pipeInTheWay(path: string): HoldfastError {
  const kind = statOf(path)?.isFIFO() ? "named pipe" : "device";
  return new HoldfastError("git_failed", `${path} is a ${kind}, and git would block on it`, { hint: "remove it" });
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A socket cannot be opened, and /dev/null is empty: git does not block on either. */
function isPipe(stats: Stats | undefined): boolean {
  if (stats?.isFIFO()) return true;
  return stats !== undefined && (stats.isCharacterDevice() || stats.isBlockDevice()) && stats.rdev !== statOf("/dev/null")?.rdev;
}
