/**
 * Merges a workspace's commits into a branch. Everything that can fail is checked first, in the object database and by reading. Then, in this
 * order: uncommitted files become the workspace's head, the base moves, the workspace follows. Each is one git step, which completes even if the
 * daemon dies, and the next attempt finds the rest to do: committed but not merged is a workspace with one more commit; merged but not followed (a
 * rebase) has nothing left to replay and only follows.
 * The base moves by fast-forward only. If it is checked out, that tree must have no changes, and git moves both at once. That also holds for a tree
 * where an agent works: the agent loses nothing, and sees what it would see after a pull.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError, type MergeWay } from "@holdfast/contract";
import {
  type Combined,
  combine,
  earlierSquash,
  isAncestor,
  replay,
  type Sides,
  type Squashed,
  signsCommits,
  squash,
} from "../git/combine.ts";
import { type Environment, firstLine, type GitOptions, git, parts, tryGit } from "../git/git.ts";
import { commitOf, listTrees, type Tree } from "../git/repository.ts";
import { uncommitted, underWay } from "../git/uncommitted.ts";
import { commitOfAll, hooksNotAsked, landCommit } from "./commit-all.ts";
import { squashMessage } from "./squash-message.ts";

export interface MergeOrder {
  /** The workspace's name, for messages. */
  name: string;
  /** The workspace's working tree. */
  tree: string;
  branch: string;
  /** The local branch to merge into. */
  into: string;
  /** Default: fast-forward. */
  way?: MergeWay | undefined;
  /** Message of a squash commit. Default: made from the commits' messages. */
  message?: string | undefined;
  /** Commits uncommitted files first, with this message. */
  commit?: string | undefined;
  /** An earlier merge of this workspace. */
  squashed?: Squashed | undefined;
  env?: Environment | undefined;
}

export interface Merge {
  way: MergeWay;
  into: string;
  /** The base's commit before and after the merge. */
  before: string;
  commit: string;
  /** The workspace commit that was merged, and the workspace's head now. */
  tip: string;
  head: string;
  commits: number;
  /** The working tree that has the base checked out, whose files changed. */
  tree: string | null;
  notes: string[];
}

export async function merge(order: MergeOrder): Promise<Merge> {
  const { tree, into } = order;
  const options: GitOptions = { env: order.env };
  const before = await baseCommit(order, options);
  const head = await headOf(order, options);
  const baseTree = await treeOf(order, options);
  if (baseTree) await checkBaseTree(baseTree, into, options);

  const sign = await signsCommits(tree, options);
  const isCommitted = await checkCommitted(order, options);
  const tip = isCommitted ? head : await commitOfAll({ tree, head, message: order.commit ?? "", sign }, options);
  const sides: Sides = { directory: tree, base: before, tip, sign, merged: undefined };
  sides.merged = await earlierSquash({ ...sides, squashed: order.squashed }, options);
  const commits = await countCommits(sides, options);
  if (commits === 0) throw nothingToMerge(order);
  const way = order.way ?? "ff";
  const commit = await merged(way, { order, sides, options });
  if (baseTree) await checkNotOverwritten({ baseTree, before, commit }, options);

  if (!isCommitted) await landCommit({ tree, head, commit: tip }, options);
  if (commit !== before) await moveBase({ order, baseTree, before, commit }, options);
  const follows = way === "rebase" && commit !== tip ? await follow({ tree, commit }, options) : undefined;
  return {
    way,
    into,
    before,
    commit,
    tip,
    head: way === "rebase" && follows === undefined ? commit : tip,
    commits,
    tree: baseTree?.path ?? null,
    notes: [...(follows === undefined ? [] : [follows]), ...(isCommitted ? [] : await hookNotes(tree, options))],
  };
}

async function hookNotes(tree: string, options: GitOptions): Promise<string[]> {
  const names = await hooksNotAsked(tree, options);
  return names.length === 0
    ? []
    : [
        `the repository's hook ${names.join(" and ")} was not run, because agents can write it; to run it, commit in the workspace yourself`,
      ];
}

async function baseCommit({ into, branch, tree }: MergeOrder, options: GitOptions): Promise<string> {
  if (into === branch)
    throw new HoldfastError("merge_refused", `${into} is the workspace's own branch`, { hint: "name another branch: --into BRANCH" });
  const commit = await commitOf(tree, `refs/heads/${into}`, options.env);
  if (commit !== undefined) return commit;
  const isSomething = (await commitOf(tree, into, options.env)) !== undefined;
  throw new HoldfastError("merge_refused", isSomething ? `its base ${into} is not a local branch` : `there is no branch ${into}`, {
    hint: "name the branch to merge into: --into BRANCH",
  });
}

/** Uses what is checked out in the workspace, because agents create branches of their own. */
async function headOf({ name, tree, branch }: MergeOrder, options: GitOptions): Promise<string> {
  const busy = await underWay(tree, options);
  if (busy !== undefined) {
    throw new HoldfastError("merge_refused", `${busy} is in progress in the workspace ${name}`, { hint: `finish it there first: ${tree}` });
  }
  const head = await git(tree, ["rev-parse", "--verify", "HEAD^{commit}"], options);
  const own = await commitOf(tree, `refs/heads/${branch}`, options.env);
  if (own === undefined || (await isAncestor(tree, own, head, options))) return head;
  throw new HoldfastError(
    "merge_refused",
    `the workspace ${name} has another branch checked out, and its branch ${branch} has commits of its own`,
    {
      hint: `check out the branch to merge: git -C ${tree} switch ${branch}`,
    },
  );
}

async function treeOf({ tree, into }: MergeOrder, options: GitOptions): Promise<Tree | undefined> {
  return (await listTrees(tree, options.env)).find(({ branch, bare, prunable }) => branch === into && !bare && !prunable);
}

async function checkBaseTree({ path }: Tree, into: string, options: GitOptions): Promise<void> {
  const busy = await underWay(path, options);
  if (busy !== undefined) throw new HoldfastError("merge_refused", `${busy} is in progress in ${path}, where ${into} is checked out`);
  const changed = await uncommitted(path, options, { untracked: false });
  if (changed.length === 0) return;
  throw new HoldfastError("merge_refused", `${into} is checked out in ${path} with uncommitted changes; nothing was changed`, {
    hint: "commit or stash them there, then try again",
    candidates: changed,
  });
}

async function checkCommitted({ name, tree, commit }: MergeOrder, options: GitOptions): Promise<boolean> {
  const changed = await uncommitted(tree, options);
  if (changed.length === 0) return true;
  if (commit !== undefined) return false;
  throw new HoldfastError("merge_refused", `the workspace ${name} has uncommitted files; nothing was changed`, {
    hint: "commit them there, or commit all with the merge: --commit MESSAGE",
    candidates: changed,
  });
}

async function countCommits({ directory, base, tip, merged }: Sides, options: GitOptions): Promise<number> {
  const without = merged === undefined ? [] : [`^${merged}`];
  return Number(await git(directory, ["rev-list", "--count", tip, `^${base}`, ...without], options));
}

function nothingToMerge({ name, into }: MergeOrder): HoldfastError {
  return new HoldfastError("merge_refused", `there is nothing to merge: ${into} has every commit of the workspace ${name}`, {
    hint: `remove the workspace: holdfast workspace rm ${name}`,
  });
}

interface Plan {
  order: MergeOrder;
  sides: Sides;
  options: GitOptions;
}

async function merged(way: MergeWay, { order, sides, options }: Plan): Promise<string> {
  const { directory, base, tip } = sides;
  const isAhead = await isAncestor(directory, base, tip, options);
  if (way === "ff") {
    if (isAhead) return tip;
    throw new HoldfastError(
      "merge_refused",
      `${order.into} has commits that the workspace ${order.name} does not have: a fast-forward is not possible`,
      {
        hint: "merge as one commit: --squash; or rebase each commit: --rebase",
      },
    );
  }
  await checkRelated(order, sides, options);
  if (way === "squash") return squash({ ...sides, message: order.message ?? (await squashMessage(order.name, sides, options)) }, options);
  const merges = Number(await git(directory, ["rev-list", "--count", "--min-parents=2", tip, `^${base}`], options));
  if (isAhead && merges === 0) return tip;
  const commit = await replay(sides, options);
  if (merges > 0) await checkSame({ commit, combined: await combine(sides, options) }, { order, sides, options });
  return commit;
}

async function checkRelated({ into }: MergeOrder, { directory, base, tip }: Sides, options: GitOptions): Promise<void> {
  if ((await tryGit(directory, ["merge-base", base, tip], options)).code === 0) return;
  const isShallow = (await git(directory, ["rev-parse", "--is-shallow-repository"], options)) === "true";
  throw new HoldfastError("merge_refused", `the workspace and ${into} have no commit in common`, {
    hint: isShallow ? "the clone is shallow; fetch the whole history: git fetch --unshallow" : "merge them by hand in the workspace first",
  });
}

/** A replay skips merge commits and their conflict resolutions, so the result may differ from the files that were tested in the workspace. */
async function checkSame({ commit, combined }: { commit: string; combined: Combined }, { sides, options }: Plan): Promise<void> {
  const tree = await git(sides.directory, ["rev-parse", `${commit}^{tree}`], options);
  if ("tree" in combined && combined.tree === tree) return;
  throw new HoldfastError(
    "merge_refused",
    "a rebase of its commits does not give the workspace's files: its merge commits changed something too",
    {
      hint: "merge as one commit: --squash",
    },
  );
}

/** The tree has no changes, so an existing file that the base's commit lacks is untracked. Git would silently overwrite an ignored one. */
async function checkNotOverwritten(
  { baseTree, before, commit }: { baseTree: Tree; before: string; commit: string },
  options: GitOptions,
): Promise<void> {
  const added = parts(
    await git(baseTree.path, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", before, commit], options),
  );
  const there = added.filter((file) => lstatSync(join(baseTree.path, file), { throwIfNoEntry: false }) !== undefined);
  if (there.length === 0) return;
  throw new HoldfastError("merge_refused", `untracked files in ${baseTree.path} would be overwritten; nothing was changed`, {
    hint: "move them away, then try again",
    candidates: there,
  });
}

interface Move {
  order: MergeOrder;
  baseTree: Tree | undefined;
  before: string;
  commit: string;
}

async function moveBase({ order, baseTree, before, commit }: Move, options: GitOptions): Promise<void> {
  const { into, tree, name } = order;
  const note = `holdfast workspace merge ${name}`;
  if (!baseTree) {
    const { code } = await tryGit(tree, ["update-ref", "-m", note, `refs/heads/${into}`, commit, before], options);
    if (code !== 0) throw movedOn(into);
    return;
  }
  const on = (await tryGit(baseTree.path, ["symbolic-ref", "--quiet", "HEAD"], options)).stdout.trim();
  if (on !== `refs/heads/${into}`) throw movedOn(into);
  // Quiet: output to a daemon that died would kill git halfway.
  const args = ["merge", "--quiet", "--ff-only", "--no-squash", "--no-autostash", commit];
  const result = await tryGit(baseTree.path, args, { ...options, with: { ...options.with, GIT_REFLOG_ACTION: note } });
  if (result.code === 0) return;
  if ((await commitOf(tree, `refs/heads/${into}`, options.env)) !== before) throw movedOn(into);
  throw new HoldfastError("merge_refused", `git cannot move ${into} in ${baseTree.path}: ${firstLine(result.stderr)}`, {
    hint: "fix the problem there, then try again",
    candidates: filesIn(result.stderr),
  });
}

/** Git lists the blocking files one per line, after a tab. */
function filesIn(stderr: string): string[] {
  return stderr.split("\n").flatMap((line) => (line.startsWith("\t") ? [line.slice(1)] : []));
}

function movedOn(into: string): HoldfastError {
  return new HoldfastError("merge_refused", `${into} got another commit during the merge; nothing was merged`, {
    hint: "try again to merge into its new state",
  });
}

/** Moves the workspace to the rebased commit, or returns why it could not. Failure is harmless, because the base has everything. */
async function follow({ tree, commit }: { tree: string; commit: string }, options: GitOptions): Promise<string | undefined> {
  const { code, stderr } = await tryGit(tree, ["reset", "--quiet", "--keep", commit], options);
  return code === 0 ? undefined : `the workspace keeps its own commits: ${firstLine(stderr)}`;
}
