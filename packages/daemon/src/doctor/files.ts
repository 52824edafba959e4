/** Checks the home, its disk, and the kernel's limit of file watches. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Home, isSameProcess, readJsonFile, whyUnwritable } from "@holdfast/platform";
import type { Check } from "./check.ts";

const GIGABYTE = 1 << 30;

export function homePermissions(home: Home): Check {
  const mode = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  const open = [home.path, home.sessions, home.database].filter((path) => (mode(path) & 0o077) !== 0);
  if (open.length === 0) return { id: "permissions", level: "ok", what: `only you can read ${home.path}`, remedy: null };
  return {
    id: "permissions",
    level: "problem",
    what: `others can read ${open.join(", ")}`,
    remedy: "holdfast doctor --fix",
    fix: () => {
      for (const path of open) chmodSync(path, statSync(path).mode & 0o700);
    },
  };
}

export function disk(home: Home): Check {
  const { bavail, bsize } = statfsSync(home.path);
  const free = bavail * bsize;
  const size = free < GIGABYTE / 10 ? `${Math.floor(free / (1 << 20))} MB` : `${(free / GIGABYTE).toFixed(1)} GB`;
  const what = `${size} free on the disk of the recordings (${home.path})`;
  const trouble = whyUnwritable(home.path);
  if (trouble) return { id: "disk", level: "problem", what: `${trouble.message}; ${what}`, remedy: trouble.hint ?? null };
  const remedy = "free space, or remove ended sessions: holdfast rm --all";
  if (free > GIGABYTE) return { id: "disk", level: "ok", what, remedy: null };
  return { id: "disk", level: free > GIGABYTE / 10 ? "warning" : "problem", what, remedy };
}

/** Each running session uses one watch of the kernel. */
export function watches(): Check {
  const limit = Number(readOr("/proc/sys/fs/inotify/max_user_watches", ""));
  if (!limit || limit >= 4096)
    return { id: "watches", level: "ok", what: "the kernel's limit of watched files is high enough", remedy: null };
  return {
    id: "watches",
    level: "warning",
    what: `the kernel allows only ${limit} watched files; editors use many of them`,
    remedy: "run as root: sysctl fs.inotify.max_user_watches=65536",
  };
}

/** Registrations of dead holders: a killed holder cannot remove its own. */
export function keeperFiles(home: Home): Check {
  const directory = join(home.path, "holders");
  const stale = (existsSync(directory) ? readdirSync(directory) : []).filter((name) => {
    const file = readJsonFile(join(directory, name)) as { pid?: number; start?: string } | undefined;
    return !file?.pid || !isSameProcess(file.pid, file.start ?? "");
  });
  if (stale.length === 0) return { id: "holders", level: "ok", what: "every registered holder is running", remedy: null };
  return {
    id: "holders",
    level: "note",
    what: stale.length === 1 ? "1 file names a holder that is gone" : `${stale.length} files name holders that are gone`,
    remedy: "holdfast doctor --fix",
    fix: () => {
      for (const name of stale) rmSync(join(directory, name), { force: true });
    },
  };
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return fallback;
  }
}
