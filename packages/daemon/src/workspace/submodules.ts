/**
 * Submodules of a new worktree. Git clones each anew for every worktree; here from the repository's own copy of it where there is one,
 * which takes no network, and with the address it had.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Environment, firstLine, git, parts, tryGit } from "./git.ts";

/** Answers what is to be said about them, if anything. A submodule that cannot be had is not fatal: its directory stays empty, as git leaves it. */
export async function initSubmodules(tree: string, options: { common: string; env?: Environment | undefined }): Promise<string[]> {
  if (!existsSync(join(tree, ".gitmodules"))) return [];
  const failed: string[] = [];
  for (const { name, path } of await submodules(tree)) {
    const own = join(options.common, "modules", name);
    const local = existsSync(own)
      ? ["-c", `submodule.${name}.url=${own}`, "-c", "protocol.file.allow=always", ...(await alternates(own))]
      : [];
    const args = ["submodule", "update", "--init", "--recursive", "--", path];
    const first = await tryGit(tree, [...local, ...args], options);
    const result = first.code !== 0 && local.length > 0 ? await tryGit(tree, args, options) : first;
    if (result.code !== 0) failed.push(`${path} (${firstLine(result.stderr)})`);
    else if (local.length > 0) await tryGit(tree, ["submodule", "sync", "--", path], options);
  }
  return failed.length === 0 ? [] : [`submodules that could not be checked out: ${failed.join(", ")}`];
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
