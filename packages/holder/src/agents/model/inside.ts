/** Paths that a model names, inside of the session's directory and nowhere else, whatever symbolic links there are. */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** Why a tool does not do what it was asked to; the model is told, and may do better. */
export class Refusal extends Error {}

/** Where it really is. Of what is not there yet: where it would be. `root` is a real path. */
export async function inside(root: string, path: string): Promise<string> {
  const rest: string[] = [];
  let at = resolve(root, path);
  for (;;) {
    const real = await realpath(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw new Refusal(`${path} cannot be reached: ${error.code}`);
    });
    if (real !== undefined) {
      const whole = join(real, ...rest);
      if (isWithin(root, whole)) return whole;
      throw new Refusal(`${path} is outside of the session's directory ${root}`);
    }
    if (await lstat(at).catch(() => undefined)) throw new Refusal(`${path} is a symbolic link to nowhere`);
    rest.unshift(basename(at));
    at = dirname(at);
  }
}

/** The same for what is to be written. Git's own files are git's to write: a hook there would be run by whoever commits. */
export async function insideToWrite(root: string, path: string): Promise<string> {
  const real = await inside(root, path);
  if (real === root) throw new Refusal("a file must have a name");
  if (relative(root, real).split(sep).includes(".git")) throw new Refusal(`${path} is git's own: use run_command with git`);
  return real;
}

/** As people read it. */
export function nameOf(root: string, path: string): string {
  return relative(root, path) || ".";
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}
