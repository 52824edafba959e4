import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { isMissing, readOrdinaryFile, renameDurably, writeNewFile } from "./files.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A change of a configuration file. `project`: the root of the project whose file it is; null for the user's own. */
export interface ConfigurationChange {
  file: string;
  project: string | null;
  /** The text that the change is based on; null: there was no file. */
  before: string | null;
  text: string;
}

/** A lock is held for a few file operations. An older one is left from a killed process. */
const STALE_MS = 10_000;
const PAUSE_MS = 10;

/** The user's configuration file. */
export function configurationFile(env: Environment = process.env): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/", ".config"), "holdfast", "config.toml");
}

/** Null if there is no file. */
export function configurationText(file: string): string | null {
  try {
    return readOrdinaryFile(file);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw new HoldfastError("usage", `${file} cannot be read: ${(error as Error).message.replace(`${file} `, "it ")}`, {
      hint: "replace it with a readable file, or remove it",
      cause: error,
    });
  }
}

/**
 * Replaces the file as a whole, or returns false if its text is no longer `before`. Writes through a link, because the user's file may be in a
 * repository of dotfiles. Keeps the mode; only the user can read a new file of their own.
 */
export function changeConfiguration({ file, project, before, text }: ConfigurationChange): boolean {
  const target = configurationTarget(file, project);
  mkdirSync(dirname(target), { recursive: true, mode: project === null ? 0o700 : 0o777 });
  const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? (project === null ? 0o600 : 0o644);
  using _ = locked(`${target}.lock`);
  if (configurationText(target) !== before) return false;
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeNewFile(temporary, text, 0o600);
    chmodSync(temporary, mode & 0o777);
    renameDurably(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
  return true;
}

/** The file behind all links, which may not exist yet. A project's file must be in the project: a stranger may have made the link. */
export function configurationTarget(file: string, project: string | null): string {
  let target = file;
  for (let links = 0; links < 40 && isLink(target); links++) target = resolve(realOrSame(dirname(target)), readlinkSync(target));
  target = join(realOrSame(dirname(target)), basename(target));
  if (project === null || !/^\.\.(\/|$)/.test(relative(realOrSame(project), target))) return target;
  throw new HoldfastError("file_unusable", `${file} is a link out of the project, to ${target}`, {
    hint: "replace it with a file, or change the other file by hand",
  });
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** Resolves the part of the path that exists. */
function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error) || path === dirname(path)) return path;
    return join(realOrSame(dirname(path)), basename(path));
  }
}

function locked(lock: string): Disposable {
  for (const until = performance.now() + 2 * STALE_MS; ; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)) {
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return { [Symbol.dispose]: () => rmSync(lock, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const at = lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - at > STALE_MS) rmSync(lock, { force: true });
    else if (performance.now() > until)
      throw new HoldfastError("file_unusable", `another program is changing the configuration: ${lock} exists`, {
        hint: "if none is, remove that file",
      });
  }
}
