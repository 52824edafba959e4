/** Confines paths that an agent names to its workspace, wherever symbolic links lead. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** The real path; throws if it is, or would be, outside. */
export function inside(workspace: string, path: string): string {
  const root = realpathSync(workspace);
  // Resolves `..` first: after a missing directory it would lead around a symbolic link.
  const real = realPath(resolve(root, path));
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return real;
  throw new Error(`${path} is outside the workspace ${workspace}`);
}

/** As `inside`, for a file to be written. Git's own files are refused, because the next git command there would run programs that they name. */
export function insideToWrite(workspace: string, path: string): string {
  const real = inside(workspace, path);
  const root = realpathSync(workspace);
  const names = relative(root, real).split(sep);
  const isGits = [...names, ...relative(root, resolve(root, path)).split(sep)].some(isGitName);
  if (isGits || names.some((_, at) => isGitDirectory(join(root, ...names.slice(0, at)))))
    throw new Error(`${path} belongs to git: use git`);
  return real;
}

/** Includes names that file systems with case folding or dropped characters treat as `.git`: `.GIT`, `git~1`, `.git `, `.g\u200cit`. */
function isGitName(name: string): boolean {
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase();
  return /^(\.git|git~\d+)([ .:].*)?$/.test(plain.replace(/::.*$/, ""));
}

/** Recognizes a bare repository, or one behind a link, under any name. */
function isGitDirectory(directory: string): boolean {
  return (
    ["HEAD", "objects", "refs"].every((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined) ||
    ["HEAD", "commondir", "gitdir"].every((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined)
  );
}

/** For a missing file: the path where it would be created. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path) throw new Error(`${path} cannot be reached: ${code}`);
    // Writing to a dangling link would create its target, wherever that is.
    if (lstatSync(path, { throwIfNoEntry: false })) throw new Error(`${path} is a broken symbolic link`);
    return join(realPath(parent), basename(path));
  }
}
