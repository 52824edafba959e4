/** Creates a git worktree on its own branch. Every refusal happens before anything is written. */
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { readOrdinaryFile } from "@holdfast/platform";
import { filtersLeftOut } from "./filters.ts";
import { type Environment, firstLine, type GitResult, git, parts, tryGit } from "./git.ts";
import { commitOf, commitsOf, isHalfMade, listTrees, onceWhole, type Repository } from "./repository.ts";

export interface Beginning {
  branch: string;
  /** True if the branch does not exist yet. */
  isNew: boolean;
  /** A branch by name, or a commit. */
  base: string;
  baseCommit: string;
  /** Start of the new branch, if not `baseCommit`. */
  from?: string;
}

/** Plans the branch and base of a worktree. Throws `repository_unusable`. */
export async function planBeginning(
  repository: Repository,
  wanted: {
    branch?: string | undefined;
    base?: string | undefined;
    /** The base's earlier commit, where another workspace started. */
    at?: string | undefined;
    name: string;
    env?: Environment | undefined;
  },
): Promise<Beginning> {
  const { env } = wanted;
  const directory = repository.tree ?? repository.path;
  const base = wanted.base ?? (await checkedOut(directory, env));
  const refs = await lookUp(directory, [base, ...branchNames(base), ...wantedNames(wanted)], env);
  const named = (await branchNamed(refs, base)) ?? base;
  const baseCommit = wanted.at ?? (await refs(named));
  if (baseCommit === undefined) throw await noSuchBase(directory, wanted.base, env);
  const branch = wanted.branch ?? (await freeBranch(refs, wanted.name));
  if ((await tryGit(directory, ["check-ref-format", "--branch", branch], { env })).code !== 0)
    throw unusable(`${JSON.stringify(branch)} is not a valid branch name`, "choose another name; for example: --worktree fix/login");
  const isNew = (await refs(`refs/heads/${branch}`)) === undefined;
  if (isNew) await checkRoom(directory, { branch, refs, env });
  else await checkUnused(directory, branch, env);
  // An existing branch, local or remote, starts at its own commit.
  return { branch, isNew, base: isBranch(named) ? shortName(named) : baseCommit, baseCommit };
}

/** Resolves a name to a commit, or undefined. */
type Refs = (name: string) => Promise<string | undefined>;

/** Resolves the names that are needed in every case with one process. */
async function lookUp(directory: string, names: readonly string[], env: Environment | undefined): Promise<Refs> {
  const commits = await commitsOf(directory, names, { env });
  const known = new Set(names);
  return async (name) => (known.has(name) ? commits.get(name) : commitOf(directory, name, env));
}

export async function addWorktree(
  repository: Repository,
  where: { path: string; name: string; beginning: Beginning; env?: Environment | undefined },
): Promise<string[]> {
  const { branch, isNew, baseCommit, from: begins } = where.beginning;
  const directory = repository.tree ?? repository.path;
  const remote = isNew && begins === undefined ? await remoteBranch(directory, branch, where.env) : undefined;
  const from = isNew ? ["-b", branch, where.path, begins ?? remote ?? baseCommit] : [where.path, branch];
  // Locked, so that neither `git worktree prune` nor a mistake removes it.
  const lock = ["--lock", "--reason", lockReason(where.name)];
  // Git accepts either option only with a new branch.
  const track = isNew ? [remote === undefined ? "--no-track" : "--track"] : [];
  // Files are checked out later: this command uses the repository's own configuration, and would run the filters it names.
  const args = ["worktree", "add", "--quiet", "--no-checkout", ...track, ...lock, ...from];
  const added = await onceWhole(async () => {
    const result = await tryGit(directory, args, { env: where.env, direct: true });
    if (result.code !== 0 && isHalfMade(result)) await undoAdd(directory, where);
    return result;
  });
  if (added.code !== 0) throw addFailed(added, where.path);
  const checkOut = ["reset", "--hard", "--quiet", "--no-recurse-submodules"];
  const filled = await tryGit(where.path, checkOut, { env: where.env });
  if (filled.code === 0) return [...(await lfsNotes(where.path, where.env)), ...(await filterNotes(where.path, where.env))];
  if (!/filter|smudge|git-lfs/i.test(filled.stderr)) throw addFailed(filled, where.path);
  const without = ["-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"];
  const again = await tryGit(where.path, [...without, ...checkOut], { env: where.env });
  if (again.code !== 0) throw addFailed(again, where.path);
  return lfsNotes(where.path, where.env, "git-lfs is configured, but cannot be run");
}

export function lockReason(name: string): string {
  return `a workspace of Holdfast; to remove it: holdfast workspace rm ${name}`;
}

/** Removes the remains of a failed or interrupted creation. */
export async function undoAdd(
  directory: string,
  { path, beginning, env }: { path: string; beginning: Omit<Beginning, "base">; env?: Environment | undefined },
): Promise<void> {
  await tryGit(directory, ["worktree", "remove", "--force", "--force", path], { env, direct: true });
  if (beginning.isNew && (await holdsNothing(directory, beginning, env)))
    await tryGit(directory, ["branch", "-D", "--quiet", beginning.branch], { env, direct: true });
}

/** Another process may have created the branch at the same moment: it is removed only if no commit is lost. */
async function holdsNothing(directory: string, { branch, baseCommit }: Omit<Beginning, "base">, env?: Environment): Promise<boolean> {
  const tip = await commitOf(directory, `refs/heads/${branch}`, env);
  if (tip === undefined || tip === baseCommit) return tip !== undefined;
  const others = ["--not", `--exclude=${branch}`, "--branches", "--remotes", "--tags"];
  const { code, stdout } = await tryGit(directory, ["rev-list", "--max-count=1", tip, ...others], { env });
  return code === 0 && stdout === "";
}

async function checkedOut(directory: string, env: Environment | undefined): Promise<string> {
  const { code, stdout } = await tryGit(directory, ["symbolic-ref", "--quiet", "HEAD"], { env });
  return code === 0 ? stdout.trim() : "HEAD";
}

/** `main` means a branch before a tag; `origin/main` a remote's branch. */
function branchNames(name: string): string[] {
  return [name, `refs/heads/${name}`, `refs/remotes/${name}`].filter(isBranch);
}

async function branchNamed(refs: Refs, name: string): Promise<string | undefined> {
  for (const full of branchNames(name)) if ((await refs(full)) !== undefined) return full;
  return undefined;
}

function isBranch(name: string): boolean {
  return /^refs\/(heads|remotes)\//.test(name);
}

function shortName(full: string): string {
  return full.replace(/^refs\/(heads|remotes)\//, "");
}

/** The names that are checked if nothing is in the way. */
function wantedNames({ branch, name }: { branch?: string | undefined; name: string }): string[] {
  if (branch === undefined) return ["refs/heads/holdfast", `refs/heads/${ownBranch(name)}`];
  return [...above(branch), branch].map((each) => `refs/heads/${each}`);
}

/** Returns `holdfast/NAME`, or a variant if a branch named `holdfast` or that name exists. */
async function freeBranch(refs: Refs, name: string): Promise<string> {
  const isBlocked = (await refs("refs/heads/holdfast")) !== undefined;
  const wanted = isBlocked ? ownBranch(name).replace("/", "-") : ownBranch(name);
  for (let count = 1; ; count++) {
    const branch = count === 1 ? wanted : `${wanted}-${count}`;
    if ((await refs(`refs/heads/${branch}`)) === undefined) return branch;
  }
}

function ownBranch(name: string): string {
  const plain = name
    .replace(/\.lock$/, "-lock")
    .replace(/\.{2,}/g, "-")
    .replace(/\.$/, "-");
  return `holdfast/${plain}`;
}

function above(branch: string): string[] {
  const names = branch.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

async function checkRoom(
  directory: string,
  { branch, refs, env }: { branch: string; refs: Refs; env: Environment | undefined },
): Promise<void> {
  for (const parent of above(branch)) {
    if ((await refs(`refs/heads/${parent}`)) !== undefined)
      throw unusable(`the branch ${branch} cannot be created: the branch ${parent} exists`, "choose another name");
  }
  const below = await git(directory, ["for-each-ref", "--count=1", "--format=%(refname:short)", `refs/heads/${branch}/`], { env });
  if (below !== "") throw unusable(`the branch ${branch} cannot be created: the branch ${below} exists`, "choose another name");
}

async function checkUnused(directory: string, branch: string, env: Environment | undefined): Promise<void> {
  const tree = (await listTrees(directory, env)).find((each) => each.branch === branch && !each.prunable);
  if (tree)
    throw unusable(
      `the branch ${branch} is checked out in ${tree.path}`,
      "a branch can be checked out in one worktree only: choose another, or switch that one",
    );
}

/** Returns the remote branch of the same name, which is then tracked. */
async function remoteBranch(directory: string, branch: string, env: Environment | undefined): Promise<string | undefined> {
  const text = await git(directory, ["for-each-ref", "--format=%(refname)", `refs/remotes/*/${branch}`], { env });
  const found = text.split("\n").filter(Boolean);
  return found.length === 1 ? found[0] : undefined;
}

async function noSuchBase(directory: string, base: string | undefined, env: Environment | undefined): Promise<HoldfastError> {
  const anything = await tryGit(directory, ["rev-list", "--max-count=1", "--all"], { env });
  if (anything.stdout.trim() === "")
    return unusable("the repository has no commits, and a worktree needs one", "create one: git commit --allow-empty -m 'Begin'");
  if (base === undefined) return unusable("the branch that is checked out has no commit yet", "start from another branch: --base main");
  return unusable(`there is no branch or commit ${JSON.stringify(base)}`, "list branches: git branch --all");
}

/** Warns that files are LFS pointers instead of their content. */
async function lfsNotes(tree: string, env: Environment | undefined, why?: string): Promise<string[]> {
  const attributes = parts(await git(tree, ["ls-files", "-z", "--", ":(glob)**/.gitattributes"], { env }));
  if (!attributes.some((file) => hasLfs(join(tree, file)))) return [];
  const files = parts(await git(tree, ["ls-files", "-z", "--", ":(attr:filter=lfs)"], { env }));
  const isSetUp = why === undefined && (await tryGit(tree, ["config", "filter.lfs.process"], { env })).code === 0;
  if (isSetUp || files.length === 0) return [];
  return [
    `${files.length === 1 ? "1 file is an LFS pointer" : `${files.length} files are LFS pointers`}: ${why ?? "git-lfs is not set up in your global configuration"}`,
  ];
}

/** Filters that only the repository's own configuration defines are not run: an agent can write that file. */
async function filterNotes(tree: string, env: Environment | undefined): Promise<string[]> {
  const names = (await filtersLeftOut(tree, { env })).filter((name) => name !== "lfs");
  const notes: string[] = [];
  for (const name of names) {
    const files = parts(await git(tree, ["ls-files", "-z", "--", `:(attr:filter=${name})`], { env }));
    if (files.length === 0) continue;
    notes.push(
      `the filter ${name} was not run on ${files.length === 1 ? "1 file" : `${files.length} files`}: only the repository's own configuration defines it; to allow it, define it with git config --global`,
    );
  }
  return notes;
}

function addFailed(result: GitResult, path: string): HoldfastError {
  return new HoldfastError("git_failed", `the worktree ${path} could not be created: ${firstLine(result.stderr)}`, {
    hint: "nothing was left of it; check the repository: git status",
  });
}

function unusable(message: string, hint: string): HoldfastError {
  return new HoldfastError("repository_unusable", message, { hint });
}

function hasLfs(attributes: string): boolean {
  try {
    return readOrdinaryFile(attributes).includes("filter=lfs");
  } catch {
    // Missing in a sparse checkout, or a dangling link.
    return false;
  }
}
