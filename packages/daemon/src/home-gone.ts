/**
 * Ends a daemon whose home was deleted or moved. Such a daemon writes into files that nobody will find, and answers on the socket of any new home at
 * that path. The next command starts a daemon that has a home. Keepers continue: the next daemon finds them, and `orphans` lists them.
 */
import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { isMissing } from "@holdfast/platform";

/** For a system that has no watches left, or misses a change. */
const LOOK_MS = 5000;

/** A home that was moved away may be on its way back. */
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
    // A home that cannot be read may still exist.
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
