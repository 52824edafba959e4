/**
 * A throw-away place for merges that nobody keeps: `git merge-tree` writes the trees it makes, and runs the repository's merge drivers in its
 * directory. Here it writes to an object directory of its own, with the repository's as its alternate, and stands in a directory that shows
 * it the repository's attributes and nothing else: the repository does not grow, and no file appears in anybody's working tree.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, isMissing, log } from "@holdfast/platform";
import type { Repository } from "./repository.ts";

export interface MergeScratch extends AsyncDisposable {
  /** Where git is to be run. */
  readonly directory: string;
  /** With this in its environment. */
  readonly with: Readonly<Record<string, string>>;
}

export function openScratch({ path, common, bare }: Pick<Repository, "path" | "common" | "bare">, prefix: string): MergeScratch {
  const root = mkdtempSync(prefix);
  const objects = join(root, "objects");
  const directory = join(root, "tree");
  mkdirSync(join(objects, "info"), { recursive: true });
  mkdirSync(directory);
  writeFileSync(join(objects, "info", "alternates"), `${quoted(join(common, "objects"))}\n`);
  if (!bare) showAttributes(path, directory);
  return {
    directory,
    with: { GIT_DIR: common, GIT_OBJECT_DIRECTORY: objects, GIT_NO_LAZY_FETCH: "1" },
    [Symbol.asyncDispose]: () => remove(root),
  };
}

/** Removes what a process that was killed left behind. */
export async function sweepScratch(place: string, name: string): Promise<void> {
  for (const entry of readdirSync(place)) if (entry.startsWith(name)) await remove(join(place, entry));
}

/** A git that was killed may write for a moment longer; what is left then is swept at the next start. */
async function remove(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
  } catch (error) {
    log(`${directory} could not be removed yet: ${describe(error)}`);
  }
}

/** Git takes attributes from the working tree: in it, `merge=union` and the like are found in any directory. */
function showAttributes(tree: string, directory: string): void {
  try {
    for (const entry of readdirSync(tree, { withFileTypes: true })) {
      if (entry.isDirectory() && entry.name !== ".git") symlinkSync(join(tree, entry.name), join(directory, entry.name));
    }
    copyFileSync(join(tree, ".gitattributes"), join(directory, ".gitattributes"));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** As git reads a line of `info/alternates`: one that begins with `"` is quoted as in C. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${escaped}"`;
}
