/**
 * Finds the repository of a directory. For a worktree of Holdfast the git directory is in `workspace.json` beside it, written at creation: an agent
 * can change the `.git` inside the worktree, so it is not read. Any other directory is resolved as git does, by the nearest `.git` above it.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { homeIn } from "@holdfast/contract/daemon/home-place";
import { readJsonFile, readOrdinaryFile } from "../files.ts";

export interface GitPlace {
  gitDir: string;
  /** Shared by all working trees of the repository. */
  common: string;
  /** Top of the working tree; null in a bare repository and in a git directory. */
  tree: string | null;
  /** Umask of the workspace's owner. */
  umask?: number | undefined;
}

/** File beside a worktree of Holdfast. */
export const WORKSPACE_FILE = "workspace.json";

/** Undefined: there is no repository. */
export function placeOf(directory: string): GitPlace | undefined {
  let start: string;
  try {
    start = realpathSync(directory);
  } catch {
    return undefined;
  }
  for (let at = start; ; at = dirname(at)) {
    const found = workspaceAt(at) ?? treeAt(at) ?? gitDirectoryAt(at);
    if (found) return found;
    if (dirname(at) === at) return undefined;
  }
}

/** The place of exactly this git directory. */
export function placeAt(gitDir: string): GitPlace {
  return { gitDir, common: commonOf(gitDir), tree: null };
}

/** Git's directory for a linked worktree, found from the repository's side: nothing inside the worktree is trusted. */
export function linkedDirectory(common: string, tree: string): string | undefined {
  const worktrees = join(common, "worktrees");
  for (const name of namesIn(worktrees)) {
    const directory = join(worktrees, name);
    const file = firstLineOf(join(directory, "gitdir"));
    if (file !== undefined && resolve(directory, file) === join(tree, ".git")) return directory;
  }
  return undefined;
}

interface Remembered {
  path?: unknown;
  repo?: unknown;
  gitDir?: unknown;
  umask?: unknown;
}

function workspaceAt(tree: string): GitPlace | undefined {
  if (dirname(dirname(tree)) !== workspaces()) return undefined;
  const { path, repo, gitDir, umask } = (readJsonFile(join(dirname(tree), WORKSPACE_FILE)) ?? {}) as Remembered;
  if (path !== tree || typeof repo !== "string") return undefined;
  const mask = typeof umask === "number" ? { umask } : {};
  if (typeof gitDir === "string") return { gitDir, common: dirname(dirname(gitDir)), tree, ...mask };
  // Created by an older Holdfast that did not record the git directory. Without an entry in the repository it does not exist, and git says so.
  const common = (treeAt(repo) ?? gitDirectoryAt(repo))?.common ?? join(repo, ".git");
  return { gitDir: linkedDirectory(common, tree) ?? join(common, "worktrees", "(gone)"), common, tree, ...mask };
}

let known: { home: string; directory: string } | undefined;

function workspaces(): string | undefined {
  try {
    const home = homeIn(process.env);
    if (known?.home !== home) known = { home, directory: join(realpathSync(home), "workspaces") };
    return known.directory;
  } catch {
    return undefined;
  }
}

function treeAt(tree: string): GitPlace | undefined {
  const path = join(tree, ".git");
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return isGitDirectory(path) ? { ...placeAt(path), tree } : undefined;
  const target = /^gitdir: (.+)$/.exec(firstLineOf(path) ?? "")?.[1];
  if (target === undefined) return undefined;
  const gitDir = isAbsolute(target) ? target : resolve(tree, target);
  return { ...placeAt(gitDir), tree };
}

function gitDirectoryAt(directory: string): GitPlace | undefined {
  return isGitDirectory(directory) ? placeAt(directory) : undefined;
}

function isGitDirectory(directory: string): boolean {
  const common = commonOf(directory);
  const has = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
  return (
    lstatSync(join(directory, "HEAD"), { throwIfNoEntry: false }) !== undefined && has(join(common, "objects")) && has(join(common, "refs"))
  );
}

function commonOf(gitDir: string): string {
  const named = firstLineOf(join(gitDir, "commondir"));
  return named === undefined ? gitDir : resolve(gitDir, named);
}

/** Such files of git contain a single path. */
const LONGEST = 8192;

function firstLineOf(path: string): string | undefined {
  try {
    return readOrdinaryFile(path, LONGEST).replace(/\r?\n[\s\S]*$/, "");
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
