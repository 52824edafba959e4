/**
 * Copies untracked files that a new worktree needs, such as `.env` or a cache. Files from git are never overwritten. Copies share disk blocks with
 * the original where the file system supports it.
 */
import { constants } from "node:fs";
import { chmod, cp, glob, lstat, mkdir } from "node:fs/promises";
import { dirname, join, matchesGlob, normalize } from "node:path";
import { git, parts } from "../git/git.ts";

/** Returns the copied paths, relative to the tree. A link is copied as a link. */
export async function copyUntracked(from: string, to: string, rules: readonly string[]): Promise<string[]> {
  return copyFiles(from, to, await untrackedFor(from, rules));
}

export async function copyFiles(from: string, to: string, paths: Iterable<string>): Promise<string[]> {
  const copied: string[] = [];
  for (const path of paths) {
    const target = join(to, path);
    if ((await exists(target)) || (await leadsAway(to, path))) continue;
    await makeParents(from, to, path);
    await cp(join(from, path), target, {
      recursive: true,
      force: false,
      errorOnExist: false,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      // Sockets and pipes cannot be copied.
      filter: async (source) => {
        const stat = await lstat(source);
        return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
      },
    });
    copied.push(path);
  }
  return copied;
}

/** Returns the untracked paths that match the rules. For a partly tracked directory, only its untracked files match. */
export async function untrackedFor(tree: string, rules: readonly string[]): Promise<Set<string>> {
  const wanted = rules.map((rule) => rule.replace(/\/$/, ""));
  const [anywhere, fromTop] = [wanted.filter((rule) => !rule.includes("/")), wanted.filter((rule) => rule.includes("/"))];
  // A wholly untracked directory is one entry: no search for `.env` below node_modules.
  const files = (anywhere.length === 0 ? [] : await untracked(tree, "")).filter((path) =>
    path.split("/").some((name) => anywhere.some((rule) => matchesGlob(name, rule))),
  );
  const found = new Map<string, boolean>();
  for (const rule of fromTop) {
    // The glob walk would follow links that a rule names.
    if (await leadsAway(tree, fixedPart(rule))) continue;
    for await (const entry of glob(rule, { cwd: tree, withFileTypes: true })) {
      const path = normalize(join(entry.parentPath, entry.name));
      // A pattern such as `{..,x}` can also leave the tree.
      if (path.startsWith(`${tree}/`)) found.set(path.slice(tree.length + 1), entry.isDirectory());
    }
  }
  // A rule such as `cache/**` also matches entries below a directory that it matched.
  const isInside = (path: string): boolean => path !== "" && (found.get(above(path)) === true || isInside(above(path)));
  for (const [path, isDirectory] of found) {
    if (!isInside(path)) files.push(...(isDirectory ? await untracked(tree, path) : [path]));
  }
  const inside: string[] = [];
  for (const path of files) if (path !== "" && path.split("/")[0] !== ".git" && !(await leadsAway(tree, path))) inside.push(path);
  return new Set(inside);
}

/** Returns the rule up to and including its first component with a pattern. */
function fixedPart(rule: string): string {
  const names = rule.split("/");
  const first = names.findIndex((name) => /[*?[\]{}()!\\]/.test(name));
  return (first < 0 ? names : names.slice(0, first + 1)).join("/");
}

async function untracked(tree: string, directory: string): Promise<string[]> {
  if (directory.split("/")[0] === ".git") return [];
  const args = ["ls-files", "-z", "--others", "--directory", "--", directory === "" ? "." : directory];
  return parts(await git(tree, args, { with: { GIT_LITERAL_PATHSPECS: "1" } })).map((entry) => entry.replace(/\/$/, ""));
}

function above(path: string): string {
  return path.includes("/") ? dirname(path) : "";
}

/** True if a directory above the path is a link. Nothing is read or written through it, because it may lead out of the project. */
async function leadsAway(tree: string, path: string): Promise<boolean> {
  for (let at = above(path); at !== ""; at = above(at)) {
    const stat = await lstat(join(tree, at)).catch(() => undefined);
    if (stat && !stat.isDirectory()) return true;
  }
  return false;
}

/** Creates parent directories with the mode of the originals, regardless of the daemon's umask. */
async function makeParents(from: string, to: string, path: string): Promise<void> {
  const parent = above(path);
  if (parent === "" || (await exists(join(to, parent)))) return;
  await makeParents(from, to, parent);
  await mkdir(join(to, parent));
  await chmod(join(to, parent), (await lstat(join(from, parent))).mode & 0o777);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
