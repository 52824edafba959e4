/**
 * Paths of a Holdfast home. Sockets are separate from the files: a Unix socket path has at most 107 bytes (103 on macOS), and a runtime directory
 * disappears at logout. So they are under /tmp in a private directory. If another user has taken its name, they are in another one, which the home
 * names. No imports other than fs and path: the CLI's hot path loads this file.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { daemonSocketIn, homeIn, type PlaceFiles, shortHash, socketDirectoryOf } from "@holdfast/contract/daemon/home-place";
import { HoldfastError, knownCause, unwritable } from "@holdfast/contract/errors";

export { shortHash };

export interface Home {
  readonly path: string;
  readonly socketDirectory: string;
  readonly daemonSocket: string;
  readonly tmuxSocket: string;
  /** Directory that other users of this machine can reach, if sharing is enabled. */
  readonly sharedDirectory: string;
  readonly database: string;
  readonly lock: string;
  readonly log: string;
  readonly daemonFile: string;
  readonly tmuxFile: string;
  readonly sessions: string;
  readonly workspaces: string;
  /** Backups of the database. */
  readonly backups: string;
  /** Damaged files, or files replaced by a backup; Holdfast never deletes them. */
  readonly setAside: string;
  /** The order to replace the database with a backup; exists until that is done. */
  readonly restoreOrder: string;
  /** A message that the user's next command shows. */
  readonly notice: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Creates the home if it is missing. The same directory under two names is one home. */
export function openHome(env: Environment = process.env): Home {
  const wanted = homePath(env);
  if (hasControlCharacter(wanted)) throw new HoldfastError("home_unusable", "the path of the home contains control characters");
  let path: string;
  try {
    path = realpathSync.native(wanted);
  } catch {
    path = createHome(wanted);
  }
  const uid = process.getuid?.() ?? 0;
  const hash = shortHash(path);
  const socketDirectory = socketDirectoryOf(path, uid, PLACE_FILES);
  return {
    path,
    socketDirectory,
    daemonSocket: daemonSocketIn(socketDirectory),
    tmuxSocket: `${socketDirectory}/tmux.sock`,
    sharedDirectory: `/tmp/holdfast-${uid}-${hash}`,
    database: join(path, "holdfast.db"),
    lock: join(path, "lock"),
    log: join(path, "daemon.log"),
    daemonFile: join(path, "daemon.json"),
    tmuxFile: join(path, "tmux.json"),
    sessions: join(path, "sessions"),
    workspaces: join(path, "workspaces"),
    backups: join(path, "backups"),
    setAside: join(path, "damaged"),
    restoreOrder: join(path, "restore.json"),
    notice: join(path, "notice"),
  };
}

const PLACE_FILES: PlaceFiles = {
  ownerOf: (path) => lstatSync(path, { throwIfNoEntry: false })?.uid,
  read(path) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
  makeDirectory: (prefix) => mkdtempSync(prefix),
  writeNew(path, text) {
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600 });
    try {
      linkSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(temporary, { force: true });
    }
  },
  remove: (path) => rmSync(path, { force: true, recursive: true }),
};

/** A loop, because compiling the Unicode class would cost more than everything else here. */
function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

/** `sessions/<id>/runs/<n>` of a home. */
export function runDirectory(home: Home, session: string, run: number): string {
  return join(home.sessions, session, "runs", String(run));
}

function homePath(env: Environment): string {
  if (env.HOLDFAST_HOME && !isAbsolute(env.HOLDFAST_HOME))
    throw new HoldfastError("home_unusable", `HOLDFAST_HOME must be an absolute path, not ${env.HOLDFAST_HOME}`, {
      hint: `set it to an absolute path: HOLDFAST_HOME=${resolve(env.HOLDFAST_HOME)}`,
    });
  return resolve(homeIn(env));
}

function createHome(wanted: string): string {
  try {
    makeDirectories(wanted);
    return realpathSync(wanted);
  } catch (cause) {
    throw (
      knownCause(cause) ??
      readOnlyAbove(wanted) ??
      new HoldfastError("home_unusable", `cannot create the home ${wanted}: ${(cause as Error).message}`, {
        hint: "set HOLDFAST_HOME to a directory you can write to",
        cause,
      })
    );
  }
}

/** Without Node's `recursive`, which retries forever on a file system that creates no directories and reports a missing parent (/proc). */
function makeDirectories(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeDirectories(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** On a read-only file system a missing directory is reported as missing, so check the parents. */
function readOnlyAbove(path: string): HoldfastError | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const parent = dirname(path);
    const isThere = (error as NodeJS.ErrnoException).code !== "ENOENT";
    return isThere || parent === path ? unwritable(error) : readOnlyAbove(parent);
  }
}

/** Refuses a home that belongs to another user, and closes it to others. */
export function secureHome(home: Home): void {
  const uid = process.getuid?.() ?? 0;
  const stat = lstatSync(home.path);
  if (!stat.isDirectory()) throw new HoldfastError("home_unusable", `${home.path} is not a directory`);
  if (stat.uid !== uid) {
    throw new HoldfastError("home_unusable", `the home ${home.path} belongs to user id ${stat.uid}, not to you (${uid})`, {
      hint: "set HOLDFAST_HOME to a directory you own",
    });
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(home.path, 0o700);
}

/**
 * Creates or checks the socket directory. Every user can create names in /tmp, so a directory that is a link, belongs to another user or is open to
 * others is refused, never used and never repaired.
 */
export function secureSocketDirectory(home: Home): void {
  secure(home.socketDirectory);
}

/** Directory of the sockets that share ssh connections to other machines; it belongs to no home. */
export function secureSshDirectory(): string {
  const uid = process.getuid?.() ?? 0;
  const usual = `/tmp/holdfast-${uid}`;
  const isTaken = (PLACE_FILES.ownerOf(usual) ?? uid) !== uid;
  const directory = `${isTaken ? dirname(openHome().socketDirectory) : usual}/ssh`;
  secure(directory);
  return directory;
}

function secure(wanted: string): void {
  const parent = wanted.slice(0, wanted.lastIndexOf("/"));
  for (const directory of [parent, wanted]) {
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") {
        throw new HoldfastError("home_unusable", `cannot create ${directory}: ${(cause as Error).message}`, { cause });
      }
    }
    checkPrivate(directory);
  }
}

/**
 * The directory of the shared socket: the group may enter it, and only its owner may write to it. A directory that is a link, belongs to another user
 * or is open to others is refused.
 */
export function secureSharedDirectory(home: Home, gid: number): void {
  const directory = home.sharedDirectory;
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
  const stat = lstatSync(directory);
  if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? 0) || (stat.mode & 0o027) !== 0) {
    throw new HoldfastError("home_unusable", `${directory} is not a directory that you own and only you can write to`, {
      hint: `check it: ls -ld ${directory}; remove it if nobody else needs it`,
    });
  }
  chownSync(directory, stat.uid, gid);
  chmodSync(directory, 0o750);
}

/** Checks the socket of another user's daemon: the token must not go to a socket that somebody else put in its place. */
export function checkSharedSocket(path: string): void {
  const directory = lstatSync(dirname(path));
  const socket = lstatSync(path);
  if (socket.isSocket() && directory.isDirectory() && directory.uid === socket.uid && (directory.mode & 0o022) === 0) return;
  throw new HoldfastError("home_unusable", `${path} is not a socket in a directory that only its owner can write to`, {
    hint: `check it: ls -la ${dirname(path)}`,
  });
}

/** True if the socket directory exists and is safe; false if it does not exist yet. */
export function socketDirectoryIsSafe(home: Home): boolean {
  try {
    checkPrivate(home.socketDirectory);
    checkPrivate(home.socketDirectory.slice(0, home.socketDirectory.lastIndexOf("/")));
    return true;
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    return false;
  }
}

function checkPrivate(directory: string): void {
  const stat = lstatSync(directory);
  const uid = process.getuid?.() ?? 0;
  if (stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0) return;
  throw new HoldfastError("home_unusable", `${directory} is not a private directory that you own`, {
    hint: `check it: ls -ld ${directory}; remove it if nobody else needs it`,
  });
}
