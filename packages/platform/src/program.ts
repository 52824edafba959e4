import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/** Default search path, also the daemon's own PATH. */
export const STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin:/opt/local/bin";

/** The file that `name` means with this PATH and directory, as execvp would find it; undefined if there is none. */
export function findProgram(name: string, path: string | undefined, cwd: string): string | undefined {
  if (name === "") return undefined;
  if (name.includes("/")) return executable(isAbsolute(name) ? name : resolve(cwd, name));
  for (const directory of (path ?? STANDARD_PATH).split(":")) {
    const found = executable(resolve(cwd, directory, name));
    if (found) return found;
  }
  return undefined;
}

function executable(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? file : undefined;
  } catch {
    return undefined;
  }
}
