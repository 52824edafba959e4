/**
 * Notices that something of a repository's refs may have changed, by the kernel's file notices: one set of watches for a repository, no timer.
 * Git writes a ref by renaming a file into its place, packs refs into one file and deletes theirs with their directories, and makes those anew;
 * so what is watched are the directories on the way to each file that counts, and only names on that way are listened to: what is done to other
 * branches, to the index, by a fetch, wakes nobody up.
 *
 * A notice says that it is time to look, never what happened. Watches are put in place before `onNotice` is called, so that what it reads is not older
 * than what the next notice is about. Where the repository is gone, the nearest directory that is still there is watched for it to come back. What is
 * around one that is there is not watched, for that is where people work: if all of it is replaced, a `look` finds out.
 *
 * Where the system has no watches left, there are no notices, `hasNotices` says so, and each `look` tries again.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, isMissing, log } from "@holdfast/platform";

/** A commit touches several files within a few milliseconds. Longer: it is told later. Shorter: git is asked more than once for it. */
const SETTLE_MS = 100;

interface Watched {
  watcher: FSWatcher;
  /** Of the directory as it was: another one may be in its place by now. */
  identity: string;
}

export class RefWatch implements Disposable {
  readonly #common: string;
  readonly #onNotice: () => void;
  readonly #watched = new Map<string, Watched>();
  #plan = new Map<string, Set<string>>();
  #refused = false;
  #saidSo = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ common, onNotice }: { common: string; onNotice(): void }) {
    this.#common = common;
    this.#onNotice = onNotice;
    this.follow([]);
  }

  /** `refs/heads/main`, `worktrees/x/HEAD`: files below the repository's directory, whether or not they are there. */
  follow(files: readonly string[]): void {
    const plan = new Map<string, Set<string>>();
    for (const file of ["packed-refs", "reftable/tables.list", ...files]) {
      for (let path = join(this.#common, file); path !== this.#common; path = dirname(path)) {
        plan.set(dirname(path), (plan.get(dirname(path)) ?? new Set()).add(basename(path)));
      }
    }
    this.#plan = plan;
    this.#place();
  }

  get hasNotices(): boolean {
    return !this.#refused;
  }

  /** Puts right what no notice told of: a directory further up was replaced; or watches were refused and are to be had again. */
  look(): void {
    this.#refused = false;
    this.#place();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#closeAll();
  }

  /** Each directory of the plan that is there is watched, as it is now. */
  #place(): void {
    if (this.#closed || this.#refused) return;
    const wanted = new Map([...this.#plan.keys()].map((directory) => [directory, identityOf(directory)]));
    if (wanted.get(this.#common) === undefined) {
      const there = nearest(this.#common);
      wanted.set(there, identityOf(there));
    }
    for (const [directory, { watcher, identity }] of this.#watched) {
      if (wanted.get(directory) === identity) continue;
      watcher.close();
      this.#watched.delete(directory);
    }
    for (const [directory, identity] of wanted) {
      if (identity !== undefined && !this.#watched.has(directory) && !this.#watch(directory, identity)) return;
    }
  }

  #watch(directory: string, identity: string): boolean {
    try {
      const watcher = watch(directory, { persistent: false }, (_, name) => this.#noticed(directory, name));
      watcher.on("error", (error) => this.#refuse(directory, error));
      this.#watched.set(directory, { watcher, identity });
      return true;
    } catch (error) {
      // Gone since it was looked at: its parent tells when it is back.
      if (isMissing(error)) return true;
      this.#refuse(directory, error);
      return false;
    }
  }

  #refuse(directory: string, error: unknown): void {
    this.#refused = true;
    this.#closeAll();
    if (!this.#saidSo) log(`cannot watch ${directory}: conflicts of its workspaces are checked only on request: ${describe(error)}`);
    this.#saidSo = true;
  }

  #noticed(directory: string, name: string | null): void {
    // The directory's own name: it was moved or deleted. One that is not in the plan is watched for what leads to the repository.
    const isItself = name === basename(directory);
    const names = this.#plan.get(directory);
    if (names && name !== null && !names.has(name) && !isItself) return;
    if (!names && name !== null && !isItself && !isWithin(this.#common, join(directory, name))) return;
    // What was there may be gone already, and something else in its place, with the number of the old one.
    this.#forget(isItself || name === null ? directory : join(directory, name));
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#place();
      this.#onNotice();
    }, SETTLE_MS).unref();
  }

  #forget(path: string): void {
    for (const [directory, { watcher }] of this.#watched) {
      if (!isWithin(directory, path)) continue;
      watcher.close();
      this.#watched.delete(directory);
    }
  }

  #closeAll(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }
}

function identityOf(directory: string): string | undefined {
  const found = statSync(directory, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : undefined;
}

function nearest(path: string): string {
  const parent = dirname(path);
  return identityOf(path) !== undefined || parent === path ? path : nearest(parent);
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
