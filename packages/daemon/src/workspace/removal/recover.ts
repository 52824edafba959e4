/**
 * Recovers a removed workspace: its worktree, what was checked out, its branch, the staged files and every file that was not ignored. A failure
 * leaves nothing behind. The ref that keeps the workspace is only read.
 */
import { HoldfastError } from "@holdfast/contract";
import { placeOf } from "@holdfast/platform/git/place";
import { firstLine, type GitOptions, git, tryGit } from "../git/git.ts";
import { QUIET_SETTINGS } from "../git/private-index.ts";
import { commitOf, listTrees } from "../git/repository.ts";
import { orWithoutFilters } from "../git/snapshot.ts";
import { initSubmodules } from "../git/submodules.ts";
import { lockReason } from "../git/worktree.ts";
import { recoverInside } from "./inside.ts";
import type { Remains } from "./remains.ts";

export interface RecoverOrder {
  repo: string;
  path: string;
  name: string;
  remains: Remains;
  /** The ref whose tree has all files. */
  files: string;
}

export interface Recovered {
  /** The workspace's branch, under its current name. */
  branch: string | null;
  /** True if the branch was created again, so it belongs to the workspace. */
  madeBranch: boolean;
  notes: string[];
}

export async function recoverTree(order: RecoverOrder, options: GitOptions): Promise<Recovered> {
  const { repo, path, name, remains, files } = order;
  const branch = await branchFor(order, options);
  const head = await headFor(order, branch, options);
  if (branch.isNew && remains.tip !== null) await git(repo, ["branch", "--no-track", branch.name, remains.tip], options);
  const add = ["worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", lockReason(name), ...head.args];
  const added = await tryGit(repo, add, { ...options, direct: true });
  try {
    if (added.code !== 0)
      throw new HoldfastError("git_failed", `the worktree ${path} could not be created: ${firstLine(added.stderr)}`, {
        hint: "the recovery data is kept; fix the cause and try again",
      });
    const staged = remains.staged ?? remains.head;
    await orWithoutFilters(path, options.env, async (settings) => {
      const quiet = [...QUIET_SETTINGS, ...settings, "read-tree"];
      await git(path, [...quiet, "--reset", "-u", files], options);
      // `-m` keeps git's cached file times, so unchanged files are not read again.
      await git(path, [...quiet, ...(staged === null ? ["--empty"] : ["-m", staged])], options);
    });
    await tryGit(path, ["update-index", "-q", "--refresh"], options);
  } catch (error) {
    await tryGit(repo, ["worktree", "remove", "--force", "--force", path], { ...options, direct: true });
    if (branch.isNew) await tryGit(repo, ["branch", "-D", "--quiet", branch.name], { ...options, direct: true });
    throw error;
  }
  const common = placeOf(repo)?.common ?? repo;
  // First check submodules out as in a new worktree, then recover the work in them.
  const missing = await initSubmodules(path, { common, env: options.env });
  const notes = [
    ...branch.notes,
    ...head.notes,
    ...missing,
    ...(await recoverInside({ tree: path, common, inside: remains.inside }, options)),
  ];
  return { branch: branch.name === "" ? null : branch.name, madeBranch: branch.isNew, notes };
}

interface Branch {
  name: string;
  isNew: boolean;
  notes: string[];
}

/** Returns the branch's old name, unless it is taken. */
async function branchFor({ repo, remains }: RecoverOrder, options: GitOptions): Promise<Branch> {
  const { branch, tip } = remains;
  if (branch === null || tip === null) return { name: branch ?? "", isNew: false, notes: [] };
  const taken = await takenBy(repo, branch, options);
  if (taken.commit === undefined) return { name: branch, isNew: true, notes: [] };
  if (taken.commit === tip && taken.tree === undefined) return { name: branch, isNew: false, notes: [] };
  const name = await freeName(repo, `${branch}-recovered`, options);
  const why = taken.tree === undefined ? `another branch is now named ${branch}` : `${branch} is checked out in ${taken.tree}`;
  return { name, isNew: true, notes: [`its branch is ${name}: ${why}`] };
}

async function takenBy(
  repo: string,
  branch: string,
  options: GitOptions,
): Promise<{ commit: string | undefined; tree: string | undefined }> {
  const commit = await commitOf(repo, `refs/heads/${branch}`, options.env);
  const tree = (await listTrees(repo, options.env)).find((each) => each.branch === branch && !each.prunable)?.path;
  return { commit, tree };
}

async function freeName(repo: string, wanted: string, options: GitOptions): Promise<string> {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if ((await commitOf(repo, `refs/heads/${name}`, options.env)) === undefined) return name;
  }
}

/** Returns the arguments for `worktree add`. An agent's own branch was not removed with the workspace and may have moved on. */
async function headFor(
  { repo, path, remains }: RecoverOrder,
  branch: Branch,
  options: GitOptions,
): Promise<{ args: string[]; notes: string[] }> {
  const { head, on, tip } = remains;
  if (on !== null && on === remains.branch && branch.name !== "") return { args: [path, branch.name], notes: [] };
  const detached = ["--detach", path, head ?? tip ?? "HEAD"];
  if (on === null) return { args: detached, notes: [] };
  const other = await takenBy(repo, on, options);
  if (head !== null && other.commit === head && other.tree === undefined) return { args: [path, on], notes: [] };
  const why = other.commit === undefined ? "is gone" : other.tree === undefined ? "has moved on" : `is checked out in ${other.tree}`;
  return { args: detached, notes: [`its head is detached: the branch ${on}, which was checked out, ${why}`] };
}
