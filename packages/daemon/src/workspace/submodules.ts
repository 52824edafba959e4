/**
 * Submodules of a new worktree. Git clones each anew for every worktree; here from the repository's own copy of it where there is one,
 * which takes no network, and with the address it had.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Environment, firstLine, type GitResult, git, parts, tryGit } from "./git.ts";

/** Answers what is to be said about them, if anything. A submodule that cannot be had is not fatal: its directory stays empty, as git leaves it. */
export async function initSubmodules(tree: string, options: { common: string; env?: Environment | undefined }): Promise<string[]> {
  const failed = await checkOut(tree, options);
  return failed.length === 0 ? [] : [`submodules that could not be checked out: ${failed.join(", ")}`];
}

async function checkOut(tree: string, options: { common: string; env?: Environment | undefined }): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, path } of existsSync(join(tree, ".gitmodules")) ? await submodules(tree) : []) {
    const own = join(options.common, "modules", name);
    if (existsSync(own) && (await fromOwn({ tree, name, path, own }, options.env))) {
      // Each level by itself: that files may be cloned from is meant for our own copy, not for what a submodule's `.gitmodules` says.
      failed.push(...(await checkOut(join(tree, path), { ...options, common: own })).map((inner) => `${path}/${inner}`));
      continue;
    }
    const result = await updateOne(tree, path, { env: options.env, recursive: true });
    if (result.code !== 0) failed.push(`${path} (${firstLine(result.stderr)})`);
  }
  return failed;
}

async function fromOwn(
  { tree, name, path, own }: { tree: string; name: string; path: string; own: string },
  env: Environment | undefined,
): Promise<boolean> {
  // `-c a=b` is cut at the first `=`: one in a name would set whatever its writer wants.
  if (name.includes("=")) return false;
  const local = ["-c", `submodule.${name}.url=${own}`, "-c", "protocol.file.allow=always", ...(await alternates(own))];
  const { code } = await updateOne(tree, path, { env, settings: local });
  if (code === 0) await tryGit(tree, ["submodule", "sync", "--", path], { env, direct: true });
  return code === 0;
}

/**
 * That a submodule is in use is written to the repository's configuration, which everybody reads. Whether it is checked out or a command is run
 * instead is never asked there.
 */
async function updateOne(
  tree: string,
  path: string,
  { env, settings = [], recursive = false }: { env: Environment | undefined; settings?: readonly string[]; recursive?: boolean },
): Promise<GitResult> {
  const begun = await tryGit(tree, ["submodule", "init", "--", path], { env, direct: true });
  if (begun.code !== 0) return begun;
  return tryGit(tree, [...settings, "submodule", "update", "--checkout", ...(recursive ? ["--init", "--recursive"] : []), "--", path], {
    env,
  });
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

/** A name is a directory below `modules`, and `.gitmodules` is whoever's wrote it. */
function isSafe(name: string): boolean {
  return name !== "" && !name.split("/").some((part) => part === ".." || part === "") && !name.includes("\n");
}

/** A shallow copy cannot be cloned from unless it is told that this is meant. */
async function alternates(own: string): Promise<string[]> {
  return (await git(own, ["rev-parse", "--is-shallow-repository"])) === "true" ? ["-c", "uploadpack.allowAnySHA1InWant=true"] : [];
}
