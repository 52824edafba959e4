/** Git's current state of a workspace. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError, type Workspace, type WorkspaceSpec } from "@holdfast/contract";
import { dirtySubmodules } from "./dirty-submodules.ts";
import { parts, tryGit } from "./git.ts";

export type State = Pick<Workspace, "dirty" | "changes" | "ahead" | "behind">;

const UNKNOWN: State = { dirty: null, changes: null, ahead: null, behind: null };

/**
 * Values are null if unknown: the directory, repository or base is gone, or it is a plain directory. `only`: the only paths that can have changed.
 * In a fresh checkout the files are as old as the index, so git would compare all of them by content.
 */
export async function stateOf(spec: WorkspaceSpec, only?: readonly string[]): Promise<State> {
  if (spec.kind === "plain" || !existsSync(spec.path)) return UNKNOWN;
  try {
    const [files, apart] = await Promise.all([only?.length === 0 ? [] : changedFiles(spec.path, only), apartFrom(spec)]);
    return { dirty: files === undefined ? null : files.length > 0, changes: files?.length ?? null, ...apart };
  } catch (error) {
    // The workspace is being removed. One that git cannot read must not hide the others.
    if (!existsSync(spec.path) || (error instanceof HoldfastError && error.code === "git_failed")) return UNKNOWN;
    throw error;
  }
}

/** Returns lines as `git status` prints them: ` M src/a.ts`, `?? notes.txt`; undefined if git fails. */
export async function changedFiles(tree: string, only: readonly string[] = []): Promise<string[] | undefined> {
  const paths = only.map((path) => `:(top,literal)${path}`);
  const status = ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--", ...paths];
  const { code, stdout } = await tryGit(tree, status);
  if (code !== 0) return undefined;
  const files: string[] = [];
  const entries = parts(stdout);
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] ?? "";
    files.push(entry);
    // The old name of a renamed or copied file is a separate entry.
    if (/^(?:[RC].|.[RC]) /.test(entry)) index++;
  }
  // Without submodules, skip listing all files.
  const hasSubmodules = only.length === 0 && existsSync(join(tree, ".gitmodules"));
  return hasSubmodules ? [...files, ...(await dirtySubmodules(tree, {}, files))] : files;
}

async function apartFrom({ path, base, baseCommit }: WorkspaceSpec): Promise<Pick<State, "ahead" | "behind">> {
  for (const from of [base === null ? null : `refs/heads/${base}`, base === null ? null : `refs/remotes/${base}`, baseCommit]) {
    if (from === null) continue;
    const { code, stdout } = await tryGit(path, ["rev-list", "--left-right", "--count", `${from}...HEAD`, "--"]);
    const [behind, ahead] = stdout.trim().split(/\s+/).map(Number);
    if (code === 0 && ahead !== undefined && behind !== undefined) return { ahead, behind };
  }
  return { ahead: null, behind: null };
}
