/**
 * The Working Context: `.holdfast/context/` in the directory where agents work, with four files for people and any agent: purpose, plan, log and
 * results. It stays with the work, so the next agent can continue, whichever agent that is.
 *
 * Its own `.gitignore` keeps it out of git (linked worktrees share one exclude file) and is written before the first file. Existing text is
 * replaced only on request, and writes are atomic. Names come from the network: no symbolic link in place of a directory or a file is followed.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  CONTEXT_FILES,
  type ContextFile,
  type ContextFileName,
  HoldfastError,
  LONGEST_CONTEXT,
  type WorkingContext,
} from "@holdfast/contract";
import { isMissing, writeFileAtomic } from "@holdfast/platform";
import { umaskIn } from "@holdfast/platform/git/command";
import { readProject } from "../setup/project.ts";
import { backgroundOf, isEmpty, pointerTo, template } from "./context-templates.ts";

const PLACE = [".holdfast", "context"] as const;
const HIDDEN = ".gitignore";

/**
 * Returns the directory whose Working Context applies in `directory`: the nearest one upwards that has one, else the repository's top. Outside a
 * repository, directories above may be unrelated and are ignored.
 */
export function contextRoot(directory: string): string {
  const within = [directory];
  for (let at = directory; !existsSync(join(at, ".git")); within.push(at)) {
    if (dirname(at) === at) return directory;
    at = dirname(at);
  }
  return within.find((at) => lookAt(join(at, ...PLACE))?.isDirectory()) ?? within.at(-1) ?? directory;
}

export function readContext(root: string): WorkingContext {
  const directory = join(root, ...PLACE);
  const exists = checkDirectories(root);
  return { root, directory, exists, files: CONTEXT_FILES.map((name) => readContextFile(directory, name)) };
}

/** Creates missing files only, and returns their names. `about`: the request that a new background.md contains. */
export function makeContext(root: string, { about, umask = umaskIn(root) }: Partial<Making> = {}): ContextFileName[] {
  return written(root, () => {
    const directory = makeDirectories(root, umask);
    return CONTEXT_FILES.filter((name) =>
      create(join(directory, name), name === "background.md" && about !== undefined ? backgroundOf(about) : template(name), umask),
    );
  });
}

interface Making {
  about: string | undefined;
  /** The umask of the directory's owner. The daemon's own would hide the files from everybody else. */
  umask: number;
}

/**
 * Never throws, so that a session can start without it. Returns a note for the user, or null. `copyOf`: a directory whose Working Context is
 * copied.
 */
export function tryContext(root: string, how: { about?: string | undefined; copyOf?: string | undefined; umask: number }): string | null {
  try {
    for (const { name, text, digest } of how.copyOf === undefined ? [] : readContext(how.copyOf).files) {
      if (digest !== null) writeContextFile(root, name, { text, digest: null, umask: how.umask });
    }
    makeContext(root, how);
    return null;
  } catch (error) {
    return `there is no Working Context: ${(error as Error).message}`;
  }
}

/**
 * `digest`: hash of the text that the writer has read, null for a missing file. If it differs, the write is refused. Without it, the file is
 * replaced.
 */
export function writeContextFile(
  root: string,
  name: ContextFileName,
  { text, digest, umask = umaskIn(root) }: { text: string; digest?: string | null | undefined; umask?: number },
): void {
  if (Buffer.byteLength(text) > LONGEST_CONTEXT) {
    throw new HoldfastError("usage", `a file of the Working Context has at most ${LONGEST_CONTEXT / 1e6} MB`, {
      hint: "keep it short: agents read it whole",
    });
  }
  written(root, () => {
    const directory = makeDirectories(root, umask);
    const now = readContextFile(directory, name);
    if (digest !== undefined && digest !== now.digest) {
      throw new HoldfastError("context_changed", `${name} has changed since you read it`, {
        hint: "read it again, then write it again",
      });
    }
    const mode = lookAt(now.path)?.mode ?? 0o666 & ~umask;
    writeFileAtomic(now.path, text);
    chmodSync(now.path, mode & 0o777);
  });
}

/** Agents read such text as a command, with the rest as its arguments. */
export function beginsCommand(words: string): boolean {
  return /^\s*[/!#]/.test(words);
}

/** Returns the note to append to the first prompt of an agent in `directory`, or null without a Working Context. */
export function contextPointer(directory: string, words: string): string | null {
  if (beginsCommand(words)) return null;
  const root = contextRoot(directory);
  try {
    if (!checkDirectories(root) || !readProject(root).context) return null;
  } catch {
    return null;
  }
  return pointerTo(root === directory ? PLACE.join("/") : join(root, ...PLACE));
}

function readContextFile(directory: string, name: ContextFileName): ContextFile {
  const path = join(directory, name);
  const missing: ContextFile = { name, path, state: "missing", text: "", bytes: 0, cut: false, digest: null, changedAt: null };
  checkFile(path);
  let file: number;
  try {
    // The file may have been replaced since the check: do not follow a link or wait on a pipe.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return missing;
    throw unusable(`${path} cannot be read`, error);
  }
  try {
    const { size, mtime } = fstatSync(file);
    const all = readAll(file, Math.min(size, MOST_COMPARED));
    const text = all.subarray(0, LONGEST_CONTEXT).toString();
    return {
      ...missing,
      state: isEmpty(name, text) ? "empty" : "written",
      text,
      bytes: size,
      cut: size > LONGEST_CONTEXT,
      digest: createHash("sha256").update(String(size)).update(all).digest("hex"),
      changedAt: mtime.toISOString(),
    };
  } finally {
    closeSync(file);
  }
}

/** The digest covers this many bytes of a file, and its size. */
const MOST_COMPARED = 16 << 20;

function readAll(file: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(file, buffer, length, bytes - length, length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/** Returns true if all directories exist. Throws if something else is in their place. */
function checkDirectories(root: string): boolean {
  return placesIn(root).every(checkDirectory);
}

/** Also creates the `.gitignore`. */
function makeDirectories(root: string, umask: number): string {
  for (const path of placesIn(root)) {
    if (checkDirectory(path)) continue;
    mkdirSync(path);
    chmodSync(path, 0o777 & ~umask);
  }
  const directory = join(root, ...PLACE);
  create(join(directory, HIDDEN), "*\n", umask);
  return directory;
}

function placesIn(root: string): string[] {
  return PLACE.map((_, i) => join(root, ...PLACE.slice(0, i + 1)));
}

function checkDirectory(path: string): boolean {
  const stat = lookAt(path);
  if (stat && !stat.isDirectory()) throw unusable(`${path} is ${stat.isSymbolicLink() ? "a symbolic link" : "not a directory"}`);
  return stat !== undefined;
}

/** A link could lead out of the directory; reading a pipe could block forever. */
function checkFile(path: string): void {
  const stat = lookAt(path);
  if (!stat || stat.isFile()) return;
  throw unusable(`${path} is ${stat.isSymbolicLink() ? "a symbolic link" : "not a file"}`);
}

/** Creates a file atomically, only if none exists. Returns true if it did. */
function create(path: string, text: string, umask: number): boolean {
  checkFile(path);
  if (lookAt(path)) return false;
  const temporary = `${path}.${process.pid}.new`;
  // May be left by a daemon that died here. Removing it also prevents following a link.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { flag: "wx" });
  chmodSync(temporary, 0o666 & ~umask);
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Some file systems have no hard links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    writeFileSync(path, text, { flag: "wx" });
    chmodSync(path, 0o666 & ~umask);
    return true;
  } finally {
    unlinkSync(temporary);
  }
}

function lookAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw unusable(`${path} cannot be reached`, error);
  }
}

function written<T>(root: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw unusable(`cannot write to ${join(root, ...PLACE)}: ${reason(error)}`, error);
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EROFS" || code === "EACCES" || code === "EPERM") return "it is read-only";
  return code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : message;
}

function unusable(what: string, cause?: unknown): HoldfastError {
  return new HoldfastError("file_unusable", what, {
    hint: "the Working Context needs plain files in plain directories that you can write to",
    cause,
  });
}
