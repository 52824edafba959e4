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
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) throw error;
    // A link to what is not there: writing to it would make that, wherever it is.
    if (lstatSync(path, { throwIfNoEntry: false })) throw error;
    return join(realPath(parent), basename(path));
  }
}
