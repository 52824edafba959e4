/**
 * Commits everything in a working tree on top of its head. The commit is first made as an object, in a private index, so a merge can find conflicts
 * before anything visible changes. Then `landCommit` moves the head to it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { findProgram } from "@holdfast/platform";
import { placeOf } from "@holdfast/platform/git/place";
import { commitTree } from "../git/combine.ts";
import { filtersLeftOut } from "../git/filters.ts";
import { type GitOptions, git, parts, tryGit } from "../git/git.ts";
import { addLinks, bytesOf, gitLinksIn } from "../git/links.ts";
import { privateIndex } from "../git/private-index.ts";

export interface NewHead {
  tree: string;
  head: string;
  message: string;
  sign: boolean;
}

/** Runs the hooks of the user's global configuration, as `git commit` would. Hooks of the repository are not run, because agents can write them. */
export async function commitOfAll({ tree, head, message, sign }: NewHead, options: GitOptions): Promise<string> {
  await refuseWithoutFilter(tree, options);
  await using index = await privateIndex(tree, options.env);
  const links = await gitLinksIn(index);
  await index.git(addAll(links), { input: allBut(links) });
  const dirty = await addLinks(index, { worktree: tree, links, env: options.env });
  if (dirty.length > 0) throw dirtyLinks(dirty);
  const embedded = (await gitLinksIn(index)).filter((path) => !links.includes(path));
  if (embedded.length > 0) throw embeddedRepositories(embedded);
  const apart = { ...options, hooks: (await ownHooks(tree, options)) !== undefined, with: { ...options.with, GIT_INDEX_FILE: index.path } };
  await hook(tree, ["pre-commit"], apart);
  const file = join(dirname(index.path), "COMMIT_EDITMSG");
  writeFileSync(file, `${message}\n`);
  await hook(tree, ["commit-msg", "--", file], apart);
  const all = await index.git(["write-tree"]);
  return await commitTree({ directory: tree, tree: all, parents: [head], message: readFileSync(file, "utf8"), sign }, options);
}

/** Excludes submodules: git would read their own configuration, which agents can write. */
function addAll(links: readonly string[]): string[] {
  return ["add", "--all", ...(links.length === 0 ? [] : ["--pathspec-from-file=-", "--pathspec-file-nul"])];
}

function allBut(links: readonly string[]): Buffer {
  return bytesOf(links.length === 0 ? [] : [":(top)", ...links.map((path) => `:(top,exclude,literal)${path}`)]);
}

function dirtyLinks(dirty: readonly string[]): HoldfastError {
  const names = dirty.map((path) => Buffer.from(path, "latin1").toString());
  return new HoldfastError(
    "merge_refused",
    `${names.length === 1 ? "a submodule has" : "submodules have"} uncommitted files, which no commit of the workspace can hold: ${names.join(", ")}; nothing was changed`,
    { hint: "commit them in the submodule first, then try again", candidates: names },
  );
}

/** `git add` would record a commit id that nobody else can fetch. */
function embeddedRepositories(paths: readonly string[]): HoldfastError {
  const names = paths.map((path) => Buffer.from(path, "latin1").toString());
  return new HoldfastError(
    "merge_refused",
    `${names.join(", ")} in the workspace is a separate repository, and a commit cannot hold its files; nothing was changed`,
    {
      hint: "make it a submodule, add it to .gitignore, or move it away; then try again",
      candidates: names,
    },
  );
}

/** Without its filter, an encrypted file would be committed in plain text. */
async function refuseWithoutFilter(tree: string, options: GitOptions): Promise<void> {
  for (const name of await filtersLeftOut(tree, options)) {
    const changed = ["ls-files", "-z", "--modified", "--others", "--exclude-standard", "--", `:(attr:filter=${name})`];
    const files = parts(await git(tree, changed, options));
    if (files.length === 0) continue;
    throw new HoldfastError(
      "merge_refused",
      `the filter ${name} is defined only in the repository's own configuration and is not run: nothing was changed`,
      {
        hint: `commit these files in the workspace yourself, or define the filter for all your repositories: git config --global filter.${name}.clean COMMAND`,
        candidates: files,
      },
    );
  }
}

/** Returns the user's hooks directory, or undefined. A directory below the working tree does not count: agents can write it. */
async function ownHooks(tree: string, options: GitOptions): Promise<string | undefined> {
  const path = await hooksPath(tree, options);
  return path !== undefined && isAbsolute(path) && relative(tree, path).startsWith("..") ? path : undefined;
}

/** Commit hooks of the repository that were not run. Their authors rely on them, so the user is told. */
export async function hooksNotAsked(tree: string, options: GitOptions): Promise<string[]> {
  const asked = await ownHooks(tree, options);
  const configured = await hooksPath(tree, { ...options, direct: true });
  const directory = configured === undefined ? join(placeOf(tree)?.common ?? tree, "hooks") : resolve(tree, configured);
  if (directory === asked) return [];
  return ["pre-commit", "commit-msg"].filter((name) => findProgram(join(directory, name), undefined, tree) !== undefined);
}

async function hooksPath(tree: string, options: GitOptions): Promise<string | undefined> {
  const { code, stdout } = await tryGit(tree, ["config", "--type=path", "core.hooksPath"], { ...options, hooks: true });
  return code === 0 ? stdout.replace(/\n$/, "") : undefined;
}

async function hook(tree: string, args: readonly string[], options: GitOptions): Promise<void> {
  const { code, stdout, stderr } = await tryGit(tree, ["hook", "run", "--ignore-missing", ...args], options);
  if (code === 0) return;
  if (/not a git command/.test(stderr)) return refuseUnasked(tree, args[0] ?? "", options);
  throw new HoldfastError("merge_refused", `the hook ${args[0]} refuses the commit: ${(stderr + stdout).trim() || `exit code ${code}`}`, {
    hint: "fix the problem in the workspace, then try again",
  });
}

/** Before git 2.36, only a commit can run a hook. */
async function refuseUnasked(tree: string, name: string, options: GitOptions): Promise<void> {
  const file = resolve(tree, await git(tree, ["rev-parse", "--git-path", `hooks/${name}`], options));
  if (!existsSync(file)) return;
  throw new HoldfastError("merge_refused", `the hook ${name} cannot check the commit: that needs git 2.36`, {
    hint: `commit it yourself: git -C ${tree} commit`,
  });
}

/** Stages everything before moving the head: a crash in between leaves the same state as `git add --all`. */
export async function landCommit(
  { tree, head, commit }: { tree: string; head: string; commit: string },
  options: GitOptions,
): Promise<void> {
  const links = await gitLinksIn({ git: (args, more) => git(tree, args, { ...options, ...more }) });
  await git(tree, addAll(links), { ...options, input: allBut(links) });
  await addLinks({ git: (args, more) => git(tree, args, { ...options, ...more }) }, { worktree: tree, links, env: options.env });
  const moved = await tryGit(tree, ["update-ref", "-m", "commit: holdfast workspace merge", "HEAD", commit, head], options);
  if (moved.code === 0) return;
  await git(tree, ["reset", "--quiet"], options);
  throw new HoldfastError("merge_refused", "another commit was made in the workspace at the same moment; nothing was merged", {
    hint: "try again",
  });
}
