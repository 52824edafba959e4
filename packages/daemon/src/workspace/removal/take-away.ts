/**
 * Deletes a workspace's directory and its own branch, after their content was kept elsewhere. The directory is renamed before the first file is
 * deleted: under its own name it is complete, so a starting daemon can keep later changes in it.
 */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { WorkspaceSpec } from "@holdfast/contract";
import { linkedDirectory, placeOf } from "@holdfast/platform/git/place";
import { type GitOptions, tryGit } from "../git/git.ts";
import { commitOf, listTrees } from "../git/repository.ts";

export interface Leaving {
  spec: WorkspaceSpec;
  /** The directory with the worktree and the files beside it. */
  directory: string;
  /** The branch's commit as it was kept. A branch that has moved on since stays. */
  tip: string | null;
}

/** Returns notes on what stays and why. A second call completes an interrupted one. */
export async function takeAway({ spec, directory, tip }: Leaving, options: GitOptions): Promise<string[]> {
  const { repo, path, kind } = spec;
  const notes: string[] = [];
  if (kind === "worktree" && path.startsWith(`${directory}/`)) {
    const going = join(directory, `removed-${basename(path)}`);
    removeTree(going);
    if (existsSync(path)) renameSync(path, going);
    removeTree(going);
    if (repo !== null && existsSync(repo)) {
      await removeEntry(repo, path, options);
      notes.push(...(await removeBranch(spec, { repo, tip }, options)));
    }
  }
  removeTree(directory);
  return notes;
}

/** Deletes git's entry directly if git cannot read it: damage by an agent must not prevent the removal. */
async function removeEntry(repo: string, path: string, options: GitOptions): Promise<void> {
  const { code } = await tryGit(repo, ["worktree", "remove", "--force", "--force", path], { ...options, direct: true });
  const common = code === 0 ? undefined : placeOf(repo)?.common;
  const entry = common && linkedDirectory(common, path);
  if (entry !== undefined) removeTree(entry);
}

/** Some tools make their files and directories read-only. */
function removeTree(directory: string): void {
  // An unknown process may still write there.
  const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };
  try {
    rmSync(directory, options);
  } catch (error) {
    if (!/^(EACCES|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    makeWritable(directory);
    rmSync(directory, options);
  }
}

function makeWritable(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) if (entry.isDirectory()) makeWritable(join(directory, entry.name));
}

/** Never removes a branch that existed before the workspace. */
async function removeBranch(
  { branch, ownBranch }: WorkspaceSpec,
  { repo, tip }: { repo: string; tip: string | null },
  options: GitOptions,
): Promise<string[]> {
  if (branch === null) return [];
  const commit = await commitOf(repo, `refs/heads/${branch}`, options.env);
  if (commit === undefined) return [];
  if (!ownBranch) return [`the branch ${branch} stays: it existed before the workspace`];
  const elsewhere = (await listTrees(repo, options.env)).find((tree) => tree.branch === branch && !tree.prunable);
  if (elsewhere) return [`the branch ${branch} stays: it is checked out in ${elsewhere.path}`];
  const isGone = tip !== null && (await tryGit(repo, ["update-ref", "-d", `refs/heads/${branch}`, tip], options)).code === 0;
  if (!isGone) return [`the branch ${branch} stays: it has new commits`];
  await tryGit(repo, ["config", "--remove-section", `branch.${branch}`], { ...options, direct: true });
  return [];
}
