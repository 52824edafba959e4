/**
 * Checks out the submodules of a new worktree. Git would clone each again for every worktree. Here the clone comes from the repository's own copy
 * if there is one, without the network, and keeps its address.
 */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { placeOf } from "@holdfast/platform/git/place";
import { type Environment, firstLine, type GitResult, git, parts, tryGit } from "./git.ts";

interface Options {
  common: string;
  env?: Environment | undefined;
}

/** Returns notes for the user. A submodule that cannot be checked out is not fatal: its directory stays empty, as with git. */
export async function initSubmodules(tree: string, options: Options): Promise<string[]> {
  const failed = await checkOut(tree, options);
  return failed.length === 0 ? [] : [`submodules that could not be checked out: ${failed.join(", ")}`];
}

async function checkOut(tree: string, options: Options): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, path } of existsSync(join(tree, ".gitmodules")) ? await submodules(tree) : []) {
    const own = join(options.common, "modules", name);
    const { code, stderr } = await makeOne({ tree, name, path, own: existsSync(own) ? own : undefined }, options.env);
    if (code !== 0) failed.push(`${path} (${firstLine(stderr)})`);
    else failed.push(...(await checkOut(join(tree, path), { ...options, common: own })).map((inner) => `${path}/${inner}`));
  }
  return failed;
}

interface Submodule {
  tree: string;
  name: string;
  path: string;
  /** The repository's copy of the submodule. */
  own: string | undefined;
}

/** An address from `.gitmodules` must not be a local path or a command. */
const NOT_FROM_USER = { GIT_PROTOCOL_FROM_USER: "0" };

/**
 * Does the work of `git submodule update --checkout` in steps. That command reads the configuration of whatever is in the clone's place, and would
 * run the filters it names. The files are checked out last, without that configuration.
 */
async function makeOne({ tree, name, path, own }: Submodule, env: Environment | undefined): Promise<GitResult> {
  const begun = await tryGit(tree, ["submodule", "init", "--", path], { env, direct: true });
  const commit = await commitAt(tree, path);
  const place = placeOf(tree);
  const inside = join(tree, path);
  if (begun.code !== 0 || commit === undefined || place === undefined) return { ...begun, code: begun.code || 1 };
  if (realpathSync(inside) !== join(realpathSync(tree), path)) return refused(`${path} is behind a symbolic link`);
  const url = (await tryGit(tree, ["config", "--get", `submodule.${name}.url`])).stdout.trim();
  const gitDir = join(place.gitDir, "modules", name);
  mkdirSync(dirname(gitDir), { recursive: true });
  const clone = (from: string) => ["clone", "--quiet", "--no-checkout", `--separate-git-dir=${gitDir}`, "--", from, inside];
  const cloned = await (own === undefined ? tryGit("/", clone(url), { env, with: NOT_FROM_USER }) : tryGit("/", clone(own), { env }));
  if (cloned.code !== 0) return cloned;
  for (const [key, value] of [
    ["core.worktree", relative(gitDir, inside)],
    ["remote.origin.url", url],
  ] as const)
    await git("/", ["config", "--file", join(gitDir, "config"), key, value]);
  await fetchMissing(inside, { commit, own }, env);
  return tryGit(inside, ["checkout", "--quiet", "--detach", commit], { env });
}

/** Returns the commit that the submodule must be at. */
async function commitAt(tree: string, path: string): Promise<string | undefined> {
  const { stdout } = await tryGit(tree, ["ls-files", "--stage", "-z", "--", `:(top,literal)${path}`]);
  return /^160000 ([0-9a-f]+) /.exec(stdout)?.[1];
}

/** Fetches the commit if no branch of the clone reaches it. If that fails, the checkout reports it. */
async function fetchMissing(
  inside: string,
  { commit, own }: { commit: string; own: string | undefined },
  env: Environment | undefined,
): Promise<void> {
  const has = async () => (await tryGit(inside, ["cat-file", "-e", `${commit}^{commit}`], { env })).code === 0;
  if (own !== undefined && !(await has())) {
    const settings = ["-c", "protocol.file.allow=always", "-c", "uploadpack.allowAnySHA1InWant=true"];
    await tryGit(inside, [...settings, "fetch", "--quiet", own, commit], { env });
  }
  if (!(await has())) await tryGit(inside, ["fetch", "--quiet", "origin", commit], { env, with: NOT_FROM_USER });
}

function refused(why: string): GitResult {
  return { code: 1, stdout: "", stderr: `${why}\n` };
}

export async function submodules(tree: string): Promise<{ name: string; path: string }[]> {
  const { code, stdout } = await tryGit(tree, ["config", "-z", "--file", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$"]);
  if (code !== 0) return [];
  return parts(stdout).flatMap((entry) => {
    const [key = "", path = ""] = entry.split("\n");
    const name = key.slice("submodule.".length, -".path".length);
    return isSafe(name) && path !== "" ? [{ name, path }] : [];
  });
}

/** A name is a directory below `modules`, and anybody may have written `.gitmodules`. */
function isSafe(name: string): boolean {
  return name !== "" && !name.split("/").some((part) => part === ".." || part === "") && !name.includes("\n");
}
