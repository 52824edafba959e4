/**
 * A temporary place for trial merges. `git merge-tree` writes the trees it makes, and runs the repository's merge drivers in its current directory.
 * Here it writes to a separate object directory, with the repository's as its alternate, and runs in a directory that shows only the repository's
 * attributes. The repository does not grow, and no file appears in any working tree.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, isMissing, log } from "@holdfast/platform";
import type { Repository } from "./repository.ts";

export interface MergeScratch extends AsyncDisposable {
  /** The directory to run git in. */
  readonly directory: string;
  /** Environment variables for git. */
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

/** Removes directories left by a killed process. */
export async function sweepScratch(place: string, name: string): Promise<void> {
  for (const entry of readdirSync(place)) if (entry.startsWith(name)) await remove(join(place, entry));
}

/** A killed git may write for a moment longer. The next start removes the rest. */
async function remove(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
  } catch (error) {
    log(`${directory} could not be removed yet: ${describe(error)}`);
  }
}

/** Git reads attributes from the working tree. The links let it find `merge=union` and the like in any subdirectory. */
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

/** Quotes a line for `info/alternates`. Git reads a line that starts with `"` as a C string. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${escaped}"`;
}
