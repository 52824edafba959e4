/**
 * A temporary place for trial merges. `git merge-tree` writes the trees it makes, and runs the repository's merge drivers in its current directory.
 * Here it writes to a separate object directory, with the repository's as its alternate, and runs in a directory that shows only the repository's
 * attributes. The repository does not grow, and no file appears in any working tree.
 */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, log, readOrdinaryFile } from "@holdfast/platform";
import { parts, tryGit } from "./git.ts";
import type { Repository } from "./repository.ts";

export interface MergeScratch extends AsyncDisposable {
  /** The directory to run git in. */
  readonly directory: string;
  /** Environment variables for git. */
  readonly with: Readonly<Record<string, string>>;
}

export async function openScratch(
  { path, common, bare }: Pick<Repository, "path" | "common" | "bare">,
  prefix: string,
): Promise<MergeScratch> {
  const attributes = bare ? [] : await attributesIn(path);
  const root = mkdtempSync(prefix);
  const objects = join(root, "objects");
  const directory = join(root, "tree");
  mkdirSync(join(objects, "info"), { recursive: true });
  mkdirSync(directory);
  writeFileSync(join(objects, "info", "alternates"), `${quoted(join(common, "objects"))}\n`);
  for (const [name, text] of attributes) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
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

/** Larger files are ignored; git ignores those above 100 MB. */
const LARGEST_ATTRIBUTES = 1 << 20;

/**
 * Git reads attributes from its working tree: `merge=union` and the like, of any directory. They are copied: through links, a merge driver would
 * write to the repository's own working tree.
 */
async function attributesIn(tree: string): Promise<Map<string, string>> {
  const listed = existsSync(tree) ? await tryGit(tree, ["ls-files", "-z", "--", ":(top,glob)**/.gitattributes"]) : undefined;
  const found = new Map<string, string>();
  for (const name of new Set([".gitattributes", ...parts(listed?.stdout ?? "")])) {
    const file = join(tree, name);
    try {
      // Git follows no link here either.
      if (lstatSync(file).isFile() && realpathSync(dirname(file)) === dirname(join(realpathSync(tree), name)))
        found.set(name, readOrdinaryFile(file, LARGEST_ATTRIBUTES));
    } catch {
      // Missing, or a file that cannot be read: it has no attributes.
    }
  }
  return found;
}

/** Quotes a line for `info/alternates`. Git reads a line that starts with `"` as a C string. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${escaped}"`;
}
