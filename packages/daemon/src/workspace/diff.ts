/** Changes in a workspace since it was created, committed or not. */
import { existsSync } from "node:fs";
import { type DiffStat, HoldfastError } from "@holdfast/contract";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { firstLine, parts, tryGit } from "./git/git.ts";
import { bytesOf, gitLinksIn } from "./git/links.ts";
import { type PrivateIndex, privateIndex } from "./git/private-index.ts";
import { repositoryGone } from "./setup/live.ts";

export interface Diff extends DiffStat {
  diff: string;
  /** The commit that the workspace is compared with. */
  from: string;
}

type Compared = Pick<WorkspaceRecord, "name" | "kind" | "path" | "repo" | "base" | "baseCommit" | "removedAt">;

export async function diffOf(record: Compared, how: { stat: boolean; names: boolean; color: boolean }): Promise<Diff> {
  return withNewFiles(record, async (from, index) => {
    const format = how.names ? ["--name-status"] : how.stat ? ["--stat"] : [];
    const [diff, stat] = await Promise.all([
      index.git(["diff", ...DIFF, ...format, how.color ? "--color=always" : "--no-color", from, "--"]),
      readStat(from, index),
    ]);
    return { diff: diff === "" ? "" : `${diff}\n`, from, ...stat };
  });
}

/** Git must not look into submodules: it would use their configuration, which agents can write. */
const DIFF = ["--no-ext-diff", "--submodule=short", "--ignore-submodules=dirty"];

/** `since`: compares with this commit instead of the merge base. */
export function statOf(record: Compared, since?: string): Promise<DiffStat> {
  return withNewFiles(record, (from, index) => readStat(since ?? from, index));
}

/** Uses a private index that includes new files. The agent's index is not touched. */
async function withNewFiles<T>(record: Compared, work: (from: string, index: PrivateIndex) => Promise<T>): Promise<T> {
  if (record.kind === "plain")
    throw new HoldfastError("repository_unusable", `${record.name} is a plain directory and has no earlier state to compare with`, {
      hint: "make it a git repository (git init) to see differences",
    });
  if (record.removedAt !== null || !existsSync(record.path))
    throw new HoldfastError(
      "workspace_removed",
      `${record.name} ${record.removedAt === null ? "no longer has a directory" : "was removed"}`,
      {
        hint: `recover it: holdfast workspace recover ${record.name}`,
      },
    );
  const { name, repo } = record;
  if (repo !== null && !existsSync(repo)) throw repositoryGone({ name, repo });
  await using index = await privateIndex(record.path);
  const links = await gitLinksIn(index);
  // Git must not look into submodules: it would use their configuration, which agents can write.
  const all = [":(top)", ...links.map((path) => `:(top,exclude,literal)${path}`)];
  const command = ["add", "--all", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await index.tryGit(command, { input: bytesOf(all) });
  if (added.code !== 0) throw new HoldfastError("git_failed", `the new files of ${record.name} cannot be read: ${firstLine(added.stderr)}`);
  // Awaited here, because the index is disposed when this function returns.
  return await work(await beginningOf(record), index);
}

/** Returns the merge base: later changes on the base are not part of the diff. */
async function beginningOf({ path, base, baseCommit }: Compared): Promise<string> {
  for (const ref of [`refs/heads/${base}`, `refs/remotes/${base}`, baseCommit ?? ""]) {
    const { code, stdout } = await tryGit(path, ["merge-base", ref, "HEAD"]);
    if (code === 0) return stdout.trim();
  }
  return baseCommit ?? "HEAD";
}

async function readStat(from: string, index: PrivateIndex): Promise<DiffStat> {
  // Binary files have `-` instead of line counts.
  const entries = parts(await index.git(["diff", ...DIFF, "--numstat", "-z", "--no-renames", from, "--"]));
  const count = (column: number) => entries.reduce((sum, entry) => sum + (Number.parseInt(entry.split("\t")[column] ?? "", 10) || 0), 0);
  return { files: entries.length, insertions: count(0), deletions: count(1) };
}
