/**
 * Keeps a removed workspace as one commit under `refs/holdfast/removed/ID`. Its tree has all files except ignored ones, plus the Working Context.
 * Its parents are what was checked out, the workspace's branch, the staged files, and what was kept before; its message says which is which.
 * Repositories inside (submodules with work in them) are kept under `refs/holdfast/inside/ID/`.
 * The working tree, its index, its branch and the stash are not touched.
 */
import { existsSync } from "node:fs";
import { HoldfastError, type WorkspaceId } from "@holdfast/contract";
import { OURS } from "../git/combine.ts";
import { type GitOptions, git, tryGit } from "../git/git.ts";
import { bytesOf, gitLinksIn } from "../git/links.ts";
import { privateIndex, QUIET_SETTINGS } from "../git/private-index.ts";
import { commitOf } from "../git/repository.ts";
import { fillIndex } from "../git/snapshot.ts";
import { type Inside, keepInside } from "./inside.ts";

export const REMOVED_REFS = "refs/holdfast/removed";

export interface Remains {
  /** The workspace's name when it was removed. */
  name: string;
  at: string;
  /** The commit that was checked out; null before the first commit. */
  head: string | null;
  /** The branch that was checked out; null if the head was detached. */
  on: string | null;
  branch: string | null;
  tip: string | null;
  /** A commit with the staged files; null if the index had conflicts. */
  staged: string | null;
  inside: Inside[];
}

export interface Removable {
  id: WorkspaceId;
  name: string;
  repo: string;
  path: string;
  branch: string | null;
}

/** Returns the ref that keeps the workspace, or null if there is nothing to keep. Writes nothing if nothing changed since the last time. */
export async function keepRemains(
  workspace: Removable,
  { now = new Date(), env }: { now?: Date; env?: GitOptions["env"] } = {},
): Promise<string | null> {
  const { id, name, repo, path, branch } = workspace;
  const options = { env };
  const ref = `${REMOVED_REFS}/${id}`;
  const before = (await commitOf(repo, ref, env)) ?? null;
  const tip = branch === null ? null : ((await commitOf(repo, `refs/heads/${branch}`, env)) ?? null);
  const there = existsSync(path) ? await readTree(workspace, options) : { head: tip, on: branch, staged: tip, inside: [], tree: null };
  const tree = there.tree ?? (tip === null ? null : await treeOf(repo, tip, options));
  if (tree === null) return before === null ? null : ref;

  const { head, on, staged, inside } = there;
  const remains: Remains = { name, at: now.toISOString(), head, on, branch, tip, staged, inside };
  if (before !== null && (await isSame({ repo, before, tree, remains }, options))) return ref;
  const parents = [head, tip, staged, before].filter((commit) => commit !== null);
  const message = `what was in the workspace ${name}\n\n${JSON.stringify(remains)}`;
  const commit = await ourCommit({ directory: repo, tree, parents, message }, options);
  await git(repo, [...QUIET_SETTINGS, "update-ref", ref, commit, before ?? ""], options);
  return ref;
}

async function readTree({ id, path, repo }: Removable, options: GitOptions) {
  const inside = await keepInside({ id, repo, path }, options);
  await using index = await privateIndex(path, options.env);
  const staged = await index.tryGit(["write-tree"]);
  const {
    head,
    branch: on,
    tree: files,
    leftOut,
  } = await fillIndex(index, path, { env: options.env, largeFile: Number.POSITIVE_INFINITY });
  const unreadable = leftOut.filter(({ why }) => why === "unreadable").map((each) => each.path);
  if (unreadable.length > 0)
    throw new HoldfastError("would_lose_work", "some of its files cannot be read, so they cannot be kept", {
      hint: `make them readable, or delete them: ${path}`,
      candidates: unreadable,
    });
  const links = (await gitLinksIn(index)).map((link) => `:(top,exclude,literal)${link}`);
  const addContext = ["add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const hasContext = (await index.tryGit(addContext, { input: bytesOf([CONTEXT, ...links]) })).code === 0;
  return {
    head,
    on,
    inside,
    tree: hasContext ? await index.git(["write-tree"]) : files,
    staged: staged.code === 0 ? await stagedCommit({ path, head, tree: staged.stdout.trim() }, options) : null,
  };
}

/** Its own `.gitignore` keeps it out of git, but agents wrote it, so it is kept. */
const CONTEXT = ".holdfast/context";

async function stagedCommit(
  { path, head, tree }: { path: string; head: string | null; tree: string },
  options: GitOptions,
): Promise<string> {
  if (head !== null && (await treeOf(path, head, options)) === tree) return head;
  return ourCommit({ directory: path, tree, parents: head === null ? [] : [head], message: "staged" }, options);
}

/** Commits as Holdfast, because no person made it. Objects are on disk before a ref names them. */
function ourCommit(
  { directory, tree, parents, message }: { directory: string; tree: string; parents: readonly string[]; message: string },
  options: GitOptions,
): Promise<string> {
  const args = [
    ...QUIET_SETTINGS,
    "-c",
    "i18n.commitEncoding=UTF-8",
    "commit-tree",
    tree,
    ...[...new Set(parents)].flatMap((parent) => ["-p", parent]),
  ];
  return git(directory, args, { ...options, with: OURS, input: message });
}

function treeOf(directory: string, commit: string, options: GitOptions): Promise<string> {
  return git(directory, ["rev-parse", `${commit}^{tree}`], options);
}

async function isSame(
  { repo, before, tree, remains }: { repo: string; before: string; tree: string; remains: Remains },
  options: GitOptions,
): Promise<boolean> {
  if ((await treeOf(repo, before, options)) !== tree) return false;
  const old = await readRemains(repo, before, options);
  const facts = async ({ name, head, on, branch, tip, staged, inside }: Remains) =>
    JSON.stringify([
      name,
      head,
      on,
      branch,
      tip,
      staged && (await treeOf(repo, staged, options)),
      inside.map((each) => [each.path, each.tree]),
    ]);
  return old !== undefined && (await facts(old)) === (await facts(remains));
}

/** Returns undefined if there is no such commit or Holdfast did not write it. */
export async function readRemains(repo: string, name: string, options: GitOptions): Promise<Remains | undefined> {
  const { code, stdout } = await tryGit(repo, ["log", "-1", "--format=%B", "--end-of-options", name], options);
  const line = stdout.split("\n").find((each) => each.startsWith("{"));
  if (code !== 0 || line === undefined) return undefined;
  try {
    return JSON.parse(line) as Remains;
  } catch {
    return undefined;
  }
}
