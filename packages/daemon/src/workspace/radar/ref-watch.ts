/**
 * Notices possible changes of a repository's refs through the kernel's file notices: one set of watches per repository, no timer. Git writes a ref
 * by renaming a file into place; it packs refs into one file, deletes theirs with their directories, and creates them again. So the watches are on
 * the directories along the path to each relevant file, and only names on that path count: other branches, the index and fetches cause no notice.
 *
 * A notice says that it is time to look, never what happened. Watches are in place before `onNotice` is called, so what it reads is never older
 * than the next notice. If the repository is gone, the nearest existing directory is watched until it returns. The surroundings of an existing
 * repository are not watched, because people work there: if the whole repository is replaced, a `look` notices.
 *
 * If the system has no watches left, there are no notices, `hasNotices` is false, and each `look` tries again.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, isMissing, log } from "@holdfast/platform";

/** A commit touches several files within a few milliseconds. A longer delay reports it later; a shorter one runs git more than once. */
const SETTLE_MS = 100;

interface Watched {
  watcher: FSWatcher;
  /** The directory's device and inode: another directory may take its place. */
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

  /** Sets the files to watch, below the repository's directory, existing or not: `refs/heads/main`, `worktrees/x/HEAD`. */
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

  /** Repairs the watches after a directory further up was replaced, or after watches were refused. */
  look(): void {
    this.#refused = false;
    this.#place();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#closeAll();
  }

  /** Watches each directory of the plan that exists now. */
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
      // Deleted since the check: its parent reports when it is back.
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
    // The directory's own name means that it was moved or deleted. A directory outside the plan is watched for the path to the repository.
    const isItself = name === basename(directory);
    const names = this.#plan.get(directory);
    if (names && name !== null && !names.has(name) && !isItself) return;
    if (!names && name !== null && !isItself && !isWithin(this.#common, join(directory, name))) return;
    // The old entry may be gone, and a new one may have the same inode number.
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
