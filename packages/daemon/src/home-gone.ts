/**
 * A daemon whose home was deleted, or moved, writes into files that nobody will find, while it answers on the socket of whatever home comes
 * to stand in that place. It ends, so that the next command starts one that has a home. Keepers go on: the next daemon finds them, and
 * `orphans` names them.
 */
import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { isMissing } from "@holdfast/platform";

/** Where the system has no watches left, or forgets to tell. */
const LOOK_MS = 5000;

/** One that was moved away may be on its way back. */
const SURE_MS = 500;

export function watchForHomeGone(path: string, onGone: () => void): Disposable {
  const own = statSync(path);
  let doubt: NodeJS.Timeout | undefined;
  const look = () => {
    if (doubt || isSame(path, own)) return;
    doubt = setTimeout(() => {
      doubt = undefined;
      if (!isSame(path, own)) onGone();
    }, SURE_MS);
  };
  const timer = setInterval(look, LOOK_MS).unref();
  const watcher = watched(path, look);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      clearTimeout(doubt);
      watcher?.close();
    },
  };
}

function isSame(path: string, own: Stats): boolean {
  try {
    const now = statSync(path);
    return now.ino === own.ino && now.dev === own.dev;
  } catch (error) {
    // What cannot be looked at may well be there.
    return !isMissing(error);
  }
}

function watched(path: string, look: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, (kind) => kind === "rename" && look()).on("error", () => {});
  } catch {
    return undefined;
  }
}
