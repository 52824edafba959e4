/**
 * The Working Context: `.holdfast/context/` in the directory where agents work, with four files that people read and any agent can: what the
 * work is for, what is planned, what was done, what came of it. It stays where the work is, so the next agent carries on, whoever made it.
 *
 * A `.gitignore` of its own keeps it out of git (linked worktrees share one exclude file), and is there before the first file it hides. What
 * is there is never overwritten unless somebody asks for it, and what is written is whole or not there at all. Names come from the network:
 * nothing is followed out of the directory, neither a link in place of a directory nor one in place of a file.
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
import { backgroundOf, isEmpty, pointerTo, template } from "./context-templates.ts";
import { readProject } from "./project.ts";

const PLACE = [".holdfast", "context"] as const;
const HIDDEN = ".gitignore";

/**
 * The directory that a Working Context belongs to, for who works in `directory`: within its repository the next one above that has one, else
 * the repository's top. Outside of a repository nothing says that what lies above belongs to it.
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

/** Makes what is missing of it, and nothing else; says which files it made. `about`: what a new background.md tells of the work. */
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
  /** Of the person whose directory it is: the daemon's own would hide the files from everybody else. */
  umask: number;
}

/** For a start that must not fail for it: what its user should know, or null. `copyOf`: the directory whose own it begins with. */
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

/** `digest`: of what the writer has read, null for a missing file; refused when it is something else by now. Without it, it is replaced. */
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

/** In agents these begin a command of their own, which would take what follows for its arguments. */
export function beginsCommand(words: string): boolean {
  return /^\s*[/!#]/.test(words);
}

/** What follows the user's own words in the first prompt of an agent in `directory`; null where there is no Working Context. */
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
    // What it became since it was looked at is neither followed nor waited for.
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

/** Of a file that is larger only so much counts, and its size. */
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

/** Whether all of them are there; throws where something else is in their place. */
function checkDirectories(root: string): boolean {
  return placesIn(root).every(checkDirectory);
}

/** Also makes the file that hides them. */
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

/** A link would lead out of the directory; a pipe would have us wait for ever. */
function checkFile(path: string): void {
  const stat = lookAt(path);
  if (!stat || stat.isFile()) return;
  throw unusable(`${path} is ${stat.isSymbolicLink() ? "a symbolic link" : "not a file"}`);
}

/** Whole, and only where nothing is; whether it did. */
function create(path: string, text: string, umask: number): boolean {
  checkFile(path);
  if (lookAt(path)) return false;
  const temporary = `${path}.${process.pid}.new`;
  // Of a daemon that died here; and no link is followed.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { flag: "wx" });
  chmodSync(temporary, 0o666 & ~umask);
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Some file systems have no second name for a file.
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
