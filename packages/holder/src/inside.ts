/** Paths that an agent may have from us: those inside its workspace, wherever symbolic links lead. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

/** The real path; throws for one that is, or would be, outside. */
export function inside(workspace: string, path: string): string {
  const root = realpathSync(workspace);
  // Without `..`: behind what is not there it would lead around a symbolic link.
  const real = realPath(resolve(root, path));
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return real;
  throw new Error(`${path} is outside of the workspace ${workspace}`);
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
    if (lstatSync(path, { throwIfNoEntry: false })) throw new Error(`${path} is a symbolic link to nowhere`);
    return join(realPath(parent), basename(path));
  }
}
