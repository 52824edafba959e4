/** Paths that an agent may have from us: those inside its workspace, wherever symbolic links lead. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** The real path; throws for one that is, or would be, outside. */
export function inside(workspace: string, path: string): string {
  const root = realpathSync(workspace);
  // Without `..`: behind what is not there it would lead around a symbolic link.
  const real = realPath(resolve(root, path));
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return real;
  throw new Error(`${path} is outside the workspace ${workspace}`);
}

/** As `inside`, for what is to be written. Git's own files are refused: whoever runs git there next would run what they name. */
export function insideToWrite(workspace: string, path: string): string {
  const real = inside(workspace, path);
  const root = realpathSync(workspace);
  const names = relative(root, real).split(sep);
  const isGits = [...names, ...relative(root, resolve(root, path)).split(sep)].some(isGitName);
  if (isGits || names.some((_, at) => isGitDirectory(join(root, ...names.slice(0, at)))))
    throw new Error(`${path} belongs to git: use git`);
  return real;
}

/** Also as file systems that fold case or drop characters take it for: `.GIT`, `git~1`, `.git `, `.g\u200cit`. */
function isGitName(name: string): boolean {
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase();
  return /^(\.git|git~\d+)([ .:].*)?$/.test(plain.replace(/::.*$/, ""));
}

/** Whatever it is called: a bare repository, or one that a link leads to. */
function isGitDirectory(directory: string): boolean {
  return (
    ["HEAD", "objects", "refs"].every((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined) ||
    ["HEAD", "commondir", "gitdir"].every((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined)
  );
}

/** Of what is not there yet: where it would be made. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path) throw new Error(`${path} cannot be reached: ${code}`);
    // Writing to it would make what it leads to, wherever that is.
    if (lstatSync(path, { throwIfNoEntry: false })) throw new Error(`${path} is a broken symbolic link`);
    return join(realPath(parent), basename(path));
  }
}
