/** A workspace's branch to a remote, with the caller's keys and credentials; what git says of it is told in its own words. */
import { HoldfastError } from "@holdfast/contract";
import { type GitOptions, git, tryGit } from "./git.ts";

export interface PushOrder {
  tree: string;
  branch: string;
  base: string | null;
}

export interface Pushed {
  remote: string;
  branch: string;
  commit: string;
  /** What the remote said: often where to open a pull request. */
  said: string;
}

export async function push({ tree, branch, base }: PushOrder, options: GitOptions): Promise<Pushed> {
  const remote = await remoteOf({ tree, branch, base }, options);
  const commit = await git(tree, ["rev-parse", "--verify", `refs/heads/${branch}^{commit}`], options);
  const ref = `refs/heads/${branch}`;
  const { code, stderr } = await tryGit(tree, ["push", "--set-upstream", "--no-progress", remote, `${ref}:${ref}`], options);
  if (code === 0) return { remote, branch, commit, said: remoteWords(stderr) };
  const isBehind = /non-fast-forward|fetch first|stale info/.test(stderr);
  throw new HoldfastError("git_failed", `git could not push ${branch} to ${remote}:\n${stderr.trim()}`, {
    hint: isBehind
      ? `${remote} has other commits on ${branch}; where those are your own from before a rebase: git push --force-with-lease ${remote} ${branch}`
      : `the same by hand: git -C ${tree} push ${remote} ${branch}`,
  });
}

/** The one that the branch or its base is followed from, else `origin`, else the only one. */
export async function remoteOf({ tree, branch, base }: PushOrder, options: GitOptions): Promise<string> {
  const remotes = (await git(tree, ["remote"], options)).split("\n").filter((name) => name !== "");
  const followed = async (name: string) => (await tryGit(tree, ["config", `branch.${name}.remote`], options)).stdout.trim();
  const wanted = [await followed(branch), ...(base === null ? [] : [await followed(base), base.split("/")[0]]), "origin"];
  const found = wanted.find((name) => name !== undefined && remotes.includes(name)) ?? (remotes.length === 1 ? remotes[0] : undefined);
  if (found !== undefined) return found;
  throw new HoldfastError(
    "repository_unusable",
    remotes.length === 0 ? "the repository has no remote to push to" : `which remote is meant? There are ${remotes.join(", ")}`,
    {
      hint: remotes.length === 0 ? "add one: git remote add origin URL" : `say it once: git config branch.${base ?? branch}.remote NAME`,
    },
  );
}

function remoteWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.startsWith("remote:"));
  return lines
    .map((line) => line.replace(/^remote: ?/, "").trimEnd())
    .join("\n")
    .trim();
}
