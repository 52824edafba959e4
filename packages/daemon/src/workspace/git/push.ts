/** Pushes a workspace's branch with the caller's keys and credentials. Errors quote git's own message. */
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
  /** The remote's message, which often links to a new pull request. */
  said: string;
}

export async function push({ tree, branch, base }: PushOrder, options: GitOptions): Promise<Pushed> {
  const remote = await remoteOf({ tree, branch, base }, options);
  const commit = await git(tree, ["rev-parse", "--verify", `refs/heads/${branch}^{commit}`], options);
  const ref = `refs/heads/${branch}`;
  await pushLargeFiles(tree, { remote, branch }, options);
  const { settings, receiver } = await wayTo(tree, remote, options);
  const args = [...settings, "push", "--no-verify", "--no-progress", ...receiver, remote, `${ref}:${ref}`];
  const { code, stderr } = await tryGit(tree, args, options);
  if (code === 0) {
    await follow(tree, { remote, branch, ref }, options);
    return { remote, branch, commit, said: remoteWords(stderr) };
  }
  const isBehind = /non-fast-forward|fetch first|stale info/.test(stderr);
  throw new HoldfastError("git_failed", `git could not push ${branch} to ${remote}:\n${stderr.trim()}`, {
    hint: isBehind
      ? `${remote} has other commits on ${branch}; if they are your own from before a rebase: git push --force-with-lease ${remote} ${branch}`
      : `try it by hand: git -C ${tree} push ${remote} ${branch}`,
  });
}

/** Returns the remote of the branch or its base, else `origin`, else the only remote. */
export async function remoteOf({ tree, branch, base }: PushOrder, options: GitOptions): Promise<string> {
  const remotes = (await git(tree, ["remote"], options)).split("\n").filter((name) => name !== "");
  const followed = async (name: string) => (await tryGit(tree, ["config", `branch.${name}.remote`], options)).stdout.trim();
  const wanted = [await followed(branch), ...(base === null ? [] : [await followed(base), base.split("/")[0]]), "origin"];
  const found = wanted.find((name) => name !== undefined && remotes.includes(name)) ?? (remotes.length === 1 ? remotes[0] : undefined);
  if (found !== undefined) return found;
  throw new HoldfastError(
    "repository_unusable",
    remotes.length === 0 ? "the repository has no remote to push to" : `the remote is ambiguous: ${remotes.join(", ")}`,
    {
      hint: remotes.length === 0 ? "add one: git remote add origin URL" : `choose one: git config branch.${base ?? branch}.remote NAME`,
    },
  );
}

/** For a repository on this machine: without this, git would use the configuration and hooks found there. */
export const LOCAL_RECEIVER =
  "--receive-pack=git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true -c gc.auto=0 -c receive.autogc=false -c receive.denyCurrentBranch=refuse receive-pack";

/** An agent can set the remote to its own directory. If it does so after this check, git refuses that directory. */
async function wayTo(tree: string, remote: string, options: GitOptions): Promise<{ settings: string[]; receiver: string[] }> {
  const urls = (await git(tree, ["remote", "get-url", "--push", "--all", remote], options)).split("\n");
  const local = urls.filter(isLocal);
  if (local.length === 0) return { settings: ["-c", "protocol.file.allow=never"], receiver: [] };
  if (local.length === urls.length) return { settings: [], receiver: [LOCAL_RECEIVER] };
  throw new HoldfastError("repository_unusable", `the remote ${remote} pushes to a local directory and to another machine at once`, {
    hint: "push by hand, or use one remote for each",
  });
}

/** Follows git's rule: a path, unless a colon comes before the first slash. */
function isLocal(url: string): boolean {
  return /^file:/i.test(url) || (!url.includes("://") && !/^[^/]*:/.test(url));
}

/** Does the work of the git-lfs pre-push hook, if the user has set git-lfs up and the tree has such files. */
async function pushLargeFiles(tree: string, { remote, branch }: { remote: string; branch: string }, options: GitOptions): Promise<void> {
  if ((await tryGit(tree, ["config", "filter.lfs.process"], options)).code !== 0) return;
  if ((await git(tree, ["ls-files", "-z", "--", ":(attr:filter=lfs)"], options)) === "") return;
  const { code, stderr } = await tryGit(tree, ["lfs", "push", remote, branch], options);
  if (code === 0) return;
  throw new HoldfastError("git_failed", `git-lfs could not push the large files of ${branch} to ${remote}:\n${stderr.trim()}`, {
    hint: `try it by hand: git -C ${tree} lfs push ${remote} ${branch}`,
  });
}

/** Like `--set-upstream`: writes to the repository's own configuration, which every tool reads. */
async function follow(
  tree: string,
  { remote, branch, ref }: { remote: string; branch: string; ref: string },
  options: GitOptions,
): Promise<void> {
  await git(tree, ["config", `branch.${branch}.remote`, remote], { ...options, direct: true });
  await git(tree, ["config", `branch.${branch}.merge`, ref], { ...options, direct: true });
}

function remoteWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.startsWith("remote:"));
  return lines
    .map((line) => line.replace(/^remote: ?/, "").trimEnd())
    .join("\n")
    .trim();
}
