/** Finds a daemon's socket and checks that it is safe to use, because every user can create names in /tmp. */
import { linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { daemonSocketIn, homeIn, type PlaceFiles, socketDirectoryOf } from "@holdfast/contract/daemon/home-place";
import { errorOf } from "../errors.ts";

export interface Place {
  socket: string;
  /** The daemon's home; undefined if it belongs to another user. */
  home?: string;
  /** False if the socket's directory does not exist; throws if it is not safe. */
  isThere(): boolean;
}

export function homeAt(home: string | undefined): Place {
  const wanted = home ?? homeIn(process.env);
  if (!isAbsolute(wanted))
    throw errorOf("home_unusable", `the home is the relative path ${wanted}; an absolute path is needed`, {
      hint: `use ${resolve(wanted)}`,
    });
  const uid = process.getuid?.() ?? 0;
  const path = realPath(wanted);
  const directory = socketDirectoryOf(path, uid, PLACE_FILES);
  const isPrivate = (place: string) => {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) return false;
    if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return true;
    throw errorOf("home_unusable", `${place} is not a private directory that you own`, {
      hint: `check it: ls -ld ${place}; remove it if nobody else needs it`,
    });
  };
  return { socket: daemonSocketIn(directory), home: path, isThere: () => isPrivate(dirname(directory)) && isPrivate(directory) };
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
    // The home may not exist before the daemon's first start.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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

/** A daemon shared by another user. The token must not go to a socket that somebody else put in its place. */
export function sharedAt(socket: string): Place {
  return {
    socket,
    isThere() {
      const directory = lstatSync(dirname(socket), { throwIfNoEntry: false });
      const found = lstatSync(socket, { throwIfNoEntry: false });
      if (!directory || !found) return false;
      if (found.isSocket() && directory.isDirectory() && directory.uid === found.uid && (directory.mode & 0o022) === 0) return true;
      throw errorOf("home_unusable", `${socket} is not a socket in a directory that only its owner can write to`, {
        hint: `check it: ls -la ${dirname(socket)}`,
      });
    },
  };
}

/** The daemon creates a home that does not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}
