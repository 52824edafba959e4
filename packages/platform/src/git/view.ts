/**
 * A repository as git is to see it: a directory of ours with links to everything that its working trees share, and in place of its configuration
 * a copy of the harmless part. `GIT_COMMON_DIR` points there, so git never opens the repository's own configuration nor its hooks, and nothing
 * that an agent writes there counts, not even in between. Links are what git follows: it writes refs, logs and objects where they belong.
 *
 * Views are in the home, where agents in a sandbox cannot write; one for each git directory, made anew when the configuration changes. A git that
 * outlives the daemon goes on with its view: only one whose repository is gone is removed.
 */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { unwritable } from "@holdfast/contract/errors";
import { homeIn } from "@holdfast/contract/home-place";
import { writeFileAtomic } from "../files.ts";
import type { GitPlace } from "./place.ts";
import { isHarmless, isLocal, readSettings, type Setting, writeSettings } from "./settings.ts";

export interface GitView {
  /** For `GIT_COMMON_DIR`. */
  common: string;
  /** Keys of the repository's own configuration that git does not see. */
  leftOut: readonly string[];
  /** Files that the rest of it names, and git reads. */
  reads: readonly string[];
}

/** What `git config --list -z --show-scope` prints there; undefined where git cannot read it. */
export type ListSettings = (place: GitPlace) => Promise<string | undefined>;

interface Kept {
  signature: string;
  view: Promise<GitView | undefined>;
}

const views = new Map<string, Kept>();

/** Undefined where there is no repository any more. */
export async function viewOf(place: GitPlace, list: ListSettings): Promise<GitView | undefined> {
  const key = nameOf(place);
  const signature = signatureOf(place);
  const before = views.get(key);
  const there = before?.signature === signature ? await before.view : undefined;
  if (there && existsSync(join(there.common, "config"))) return there;
  const view = makeView(place, list);
  views.set(key, { signature, view });
  // Files that are included may change without the one that includes them.
  const forget = () => views.get(key)?.view === view && views.delete(key);
  view.then((made) => (made === undefined || includes(made)) && forget(), forget);
  return await view;
}

function includes({ leftOut }: GitView): boolean {
  return leftOut.some((key) => /^include(if)?\./i.test(key));
}

/** The change time is the kernel's: nobody can set it back. */
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

/** Set up by the user themselves: its files are kept in the repository. */
function usesLfs(settings: readonly Setting[]): boolean {
  return settings.some((setting) => !isLocal(setting) && /^filter\.lfs\./.test(setting.key));
}

/** All that working trees share, but the configuration and the hooks. What is not there is linked too: git may make it. */
const SHARED = ["objects", "refs", "info", "worktrees", "packed-refs", "shallow", "reftable", "remotes", "branches", "rr-cache", "annex"];

function writeView(place: GitPlace, config: string, { lfs }: { lfs: boolean }): string {
  // A directory cannot be made through a link to nowhere.
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

/** Where it cannot be, git says so itself when it needs it. */
function makeDirectory(path: string, mode: number): void {
  if (existsSync(path)) return;
  try {
    mkdirSync(path);
    chmodSync(path, mode);
  } catch {}
}

/** Names the git directory that a view is of. */
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
    // Somebody else was as fast.
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

/** Where the home cannot be written to: for this process alone. */
function processRoot(): string {
  if (own !== undefined) return own;
  const directory = mkdtempSync(join(tmpdir(), "holdfast-git-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  own = directory;
  return directory;
}

/** Those of repositories and worktrees that are gone. */
function sweep(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!existsSync(join(directory, name, OF))) rmSync(join(directory, name), { recursive: true, force: true });
  }
}
