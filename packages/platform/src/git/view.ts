/**
 * A repository as git sees it: a directory of Holdfast with links to everything that its working trees share, and a copy of the harmless part of its
 * configuration. `GIT_COMMON_DIR` points there, so git never opens the repository's own configuration or hooks, and an agent's changes to them have
 * no effect at any time. Git follows the links, so it writes refs, logs and objects to their real place.
 *
 * Views are in the home, where sandboxed agents cannot write. Each git directory has one, which is rewritten when the configuration changes. A git
 * that outlives the daemon keeps using its view, so a view is removed only if its repository is gone.
 */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { homeIn } from "@holdfast/contract/daemon/home-place";
import { unwritable } from "@holdfast/contract/errors";
import { writeFileAtomic } from "../files.ts";
import type { GitPlace } from "./place.ts";
import { isHarmless, isLocal, readSettings, type Setting, writeSettings } from "./settings.ts";

export interface GitView {
  /** Value for `GIT_COMMON_DIR`. */
  common: string;
  /** Keys of the repository's own configuration that git does not see. */
  leftOut: readonly string[];
  /** Files that the visible settings name, and that git reads. */
  reads: readonly string[];
}

/** Output of `git config --list -z --show-scope` there; undefined if git cannot read it. */
export type ListSettings = (place: GitPlace) => Promise<string | undefined>;

interface Kept {
  signature: string;
  view: Promise<GitView | undefined>;
}

const views = new Map<string, Kept>();

/** Undefined if the repository is gone. */
export async function viewOf(place: GitPlace, list: ListSettings): Promise<GitView | undefined> {
  const key = nameOf(place);
  const signature = signatureOf(place);
  const before = views.get(key);
  const there = before?.signature === signature ? await before.view : undefined;
  if (there && existsSync(join(there.common, "config"))) return there;
  const view = makeView(place, list);
  views.set(key, { signature, view });
  // Included files may change without the file that includes them.
  const forget = () => views.get(key)?.view === view && views.delete(key);
  view.then((made) => (made === undefined || includes(made)) && forget(), forget);
  return await view;
}

function includes({ leftOut }: GitView): boolean {
  return leftOut.some((key) => /^include(if)?\./i.test(key));
}

/** The kernel sets the change time; it cannot be set back. */
function signatureOf({ gitDir, common }: GitPlace): string {
  return [join(common, "config"), join(gitDir, "config.worktree")]
    .map((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : "";
    })
    .join("\n");
}

async function makeView(place: GitPlace, list: ListSettings): Promise<GitView | undefined> {
  const text = await list(place);
  if (text === undefined) return undefined;
  const all = readSettings(text);
  const local = all.filter(isLocal);
  const seen = local.filter(({ key }) => isHarmless(key));
  const common = writeView(place, writeSettings(seen), { lfs: usesLfs(all) });
  return { common, leftOut: [...new Set(local.flatMap(({ key }) => (isHarmless(key) ? [] : [key])))], reads: filesNamedBy(seen, place) };
}

function filesNamedBy(settings: readonly Setting[], { tree, gitDir }: GitPlace): string[] {
  return settings.flatMap(({ key, value }) =>
    /^core\.(attributes|excludes)file$/i.test(key) && value ? [resolve(tree ?? gitDir, value.replace(/^~(?=\/)/, homedir()))] : [],
  );
}

/** The user has set up LFS, which keeps its files in the repository. */
function usesLfs(settings: readonly Setting[]): boolean {
  return settings.some((setting) => !isLocal(setting) && /^filter\.lfs\./.test(setting.key));
}

/** Everything that working trees share, except the configuration and the hooks. Missing names are linked too, because git may create them. */
const SHARED = ["objects", "refs", "info", "worktrees", "packed-refs", "shallow", "reftable", "remotes", "branches", "rr-cache", "annex"];

function writeView(place: GitPlace, config: string, { lfs }: { lfs: boolean }): string {
  // A directory cannot be created through a dangling link.
  const made = ["logs", ...(lfs || existsSync(join(place.common, "lfs")) ? ["lfs"] : [])];
  for (const name of made) makeDirectory(join(place.common, name), 0o777 & ~(place.umask ?? 0o022));
  try {
    return writeIn(homeRoot(), place, { config, names: [...SHARED, ...made] });
  } catch (error) {
    if (!unwritable(error) && (error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    return writeIn(processRoot(), place, { config, names: [...SHARED, ...made] });
  }
}

function writeIn(root: string, place: GitPlace, { config, names }: { config: string; names: readonly string[] }): string {
  const directory = join(root, nameOf(place));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  link(place.gitDir, join(directory, OF));
  for (const name of names) link(join(place.common, name), join(directory, name));
  writeFileAtomic(join(directory, "config"), config);
  return directory;
}

/** If it cannot be created, git reports that when it needs the directory. */
function makeDirectory(path: string, mode: number): void {
  if (existsSync(path)) return;
  try {
    mkdirSync(path);
    chmodSync(path, mode);
  } catch {}
}

/** Link that names the git directory of a view. */
const OF = "view-of";

function link(target: string, path: string): void {
  try {
    if (readlinkSync(path) === target) return;
    rmSync(path, { force: true });
  } catch {
    rmSync(path, { recursive: true, force: true });
  }
  try {
    symlinkSync(target, path);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function nameOf({ common, gitDir }: GitPlace): string {
  return createHash("sha256").update(`${common}\0${gitDir}`).digest("hex").slice(0, 32);
}

let swept: string | undefined;

function homeRoot(): string {
  const directory = join(homeIn(process.env), "git-views");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (swept !== directory) sweep(directory);
  swept = directory;
  return directory;
}

let own: string | undefined;

/** For this process alone, if the home is not writable. */
function processRoot(): string {
  if (own !== undefined) return own;
  const directory = mkdtempSync(join(tmpdir(), "holdfast-git-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  own = directory;
  return directory;
}

/** Removes the views of repositories and worktrees that are gone. */
function sweep(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!existsSync(join(directory, name, OF))) rmSync(join(directory, name), { recursive: true, force: true });
  }
}
