/**
 * Repositories inside a workspace's tree: submodules, and repositories that an agent cloned or created. Their objects are deleted with the tree. So
 * work that exists only there is first pushed to the outer repository under `refs/holdfast/inside/ID/NUMBER/`, and fetched from there when the
 * workspace is recovered.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError, type WorkspaceId } from "@holdfast/contract";
import { placeOf } from "@holdfast/platform/git/place";
import { firstLine, type GitOptions, git, tryGit } from "../git/git.ts";
import { QUIET_SETTINGS } from "../git/private-index.ts";
import { LOCAL_RECEIVER } from "../git/push.ts";
import { takeSnapshot, whatIsCheckedOut } from "../git/snapshot.ts";
import { uncommitted } from "../git/uncommitted.ts";
import { repositoriesIn } from "./losses.ts";

export const INSIDE_REFS = "refs/holdfast/inside";

export interface Inside {
  /** Relative to the workspace's directory. */
  path: string;
  /** True if the enclosing tree has it as a submodule. */
  known: boolean;
  head: string | null;
  on: string | null;
  /** A commit with all its files. Null if its remote has everything. */
  kept: string | null;
  tree: string | null;
  /** Prefix of the refs that keep its files and branches. */
  refs: string;
}

/** Returns outer repositories before inner ones. */
export async function keepInside(
  { id, repo, path }: { id: WorkspaceId; repo: string; path: string },
  options: GitOptions,
): Promise<Inside[]> {
  const found: Inside[] = [];
  const look = async (tree: string, prefix: string) => {
    const changed = await uncommitted(tree, options);
    for (const inner of await repositoriesIn(tree, changed, options)) {
      const known = !changed.includes(`?? ${inner}/`);
      found.push(
        await keep({ tree: join(tree, inner), repo, path: prefix + inner, known, refs: `${INSIDE_REFS}/${id}/${found.length}` }, options),
      );
      await look(join(tree, inner), `${prefix}${inner}/`);
    }
  };
  await look(path, "");
  return found;
}

type Place = Pick<Inside, "path" | "known" | "refs"> & { tree: string; repo: string };

async function keep({ tree, repo, path, known, refs }: Place, options: GitOptions): Promise<Inside> {
  const changed = await uncommitted(tree, options);
  const own = await git(tree, ["rev-list", "--max-count=1", "--all", "--not", "--remotes"], options);
  const { head, branch: on } = await whatIsCheckedOut(tree, options.env);
  if (known && changed.length === 0 && own === "") return { path, known, head, on, kept: null, tree: null, refs };
  const all = { env: options.env, largeFile: Number.POSITIVE_INFINITY, message: `what was in ${path}` };
  const { commit, tree: files } = await takeSnapshot(tree, all);
  const what = [`+${commit}:${refs}/files`, `+refs/heads/*:${refs}/heads/*`];
  const common = placeOf(repo)?.common ?? repo;
  const sent = await tryGit(tree, [...QUIET_SETTINGS, "push", "--quiet", "--no-verify", LOCAL_RECEIVER, common, ...what], options);
  if (sent.code === 0) return { path, known, head, on, kept: commit, tree: files, refs };
  throw new HoldfastError("would_lose_work", `the repository ${path} inside it cannot be kept: ${firstLine(sent.stderr)}`, {
    hint: `push its commits first: ${tree}`,
  });
}

/** Recovers each repository, and returns notes on failures. Submodules must be checked out first. */
export async function recoverInside(
  { tree, common, inside }: { tree: string; common: string; inside: readonly Inside[] },
  options: GitOptions,
): Promise<string[]> {
  const notes: string[] = [];
  for (const one of inside) {
    const said = await recoverOne({ directory: join(tree, one.path), common, one }, options);
    if (said !== undefined) notes.push(`${one.path}: ${said}; its commits are under ${one.refs}`);
  }
  return notes;
}

async function recoverOne(
  { directory, common, one }: { directory: string; common: string; one: Inside },
  options: GitOptions,
): Promise<string | undefined> {
  if (one.kept === null) return undefined;
  if (!one.known) await git(dirname(directory), ["init", "--quiet", directory], options);
  else if (!existsSync(join(directory, ".git"))) return "it could not be checked out";
  const steps: string[][] = [
    [
      "fetch",
      "--quiet",
      "--update-head-ok",
      "--no-tags",
      common,
      `+${one.refs}/files:refs/holdfast/files`,
      `+${one.refs}/heads/*:refs/heads/*`,
    ],
    ...(one.on === null ? [["update-ref", "--no-deref", "HEAD", one.head ?? ""]] : [["symbolic-ref", "HEAD", `refs/heads/${one.on}`]]),
    ["read-tree", "--reset", "-u", "refs/holdfast/files"],
    one.head === null ? ["read-tree", "--empty"] : ["read-tree", "-m", one.head],
    ["update-ref", "-d", "refs/holdfast/files"],
  ];
  for (const step of steps) {
    const { code, stderr } = await tryGit(directory, step, options);
    if (code !== 0) return firstLine(stderr);
  }
  await tryGit(directory, ["update-index", "-q", "--refresh"], options);
  return undefined;
}

/** Deletes the refs of a workspace that can no longer be recovered. */
export async function forgetInside({ repo, id }: { repo: string; id: WorkspaceId }, options: GitOptions): Promise<void> {
  const refs = await git(repo, ["for-each-ref", "--format=delete %(refname)", `${INSIDE_REFS}/${id}/`], options);
  if (refs !== "") await git(repo, ["update-ref", "--stdin"], { ...options, input: `${refs}\n` });
}
