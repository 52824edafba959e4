/** What was done in a workspace since it began, whether committed or not. */
import { copyFileSync, existsSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DiffStat, HoldfastError } from "@holdfast/contract";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { firstLine, git, parts, tryGit } from "./git.ts";

export interface Diff extends DiffStat {
  diff: string;
  /** The commit that it is compared with. */
  from: string;
}

export async function diffOf(record: WorkspaceRecord, how: { stat: boolean; names: boolean; color: boolean }): Promise<Diff> {
  return withNewFiles(record, async (from, index) => {
    const format = how.names ? ["--name-status"] : how.stat ? ["--stat"] : [];
    const [diff, stat] = await Promise.all([
      git(record.path, ["diff", ...format, how.color ? "--color=always" : "--no-color", from, "--"], index),
      readStat(record.path, from, index),
    ]);
    return { diff: diff === "" ? "" : `${diff}\n`, from, ...stat };
  });
}

export function statOf(record: WorkspaceRecord): Promise<DiffStat> {
  return withNewFiles(record, (from, index) => readStat(record.path, from, index));
}

type WithIndex = { with: { GIT_INDEX_FILE: string } };

/** An index of our own, in which new files count: the agent's is not touched. */
async function withNewFiles<T>(record: WorkspaceRecord, work: (from: string, index: WithIndex) => Promise<T>): Promise<T> {
  if (record.kind === "plain")
    throw new HoldfastError("repository_unusable", `${record.name} is a plain directory: nothing says what it was before`, {
      hint: "make it a git repository (git init) to see differences",
    });
  if (record.removedAt !== null || !existsSync(record.path))
    throw new HoldfastError(
      "workspace_removed",
      `${record.name} ${record.removedAt === null ? "has no directory any more" : "was removed"}`,
      {
        hint: `bring it back: holdfast workspace recover ${record.name}`,
      },
    );
  using place = mkdtempDisposableSync(join(tmpdir(), "holdfast-diff-"));
  const index = { with: { GIT_INDEX_FILE: join(place.path, "index") } };
  const own = await git(record.path, ["rev-parse", "--path-format=absolute", "--git-path", "index"]);
  if (existsSync(own)) copyFileSync(own, index.with.GIT_INDEX_FILE);
  const added = await tryGit(record.path, ["add", "--all", "--intent-to-add", "."], index);
  if (added.code !== 0) throw new HoldfastError("git_failed", `the new files of ${record.name} cannot be read: ${firstLine(added.stderr)}`);
  return work(await beginningOf(record), index);
}

/** Where it left its base: what happened on the base since is not its doing. */
async function beginningOf({ path, base, baseCommit }: WorkspaceRecord): Promise<string> {
  for (const ref of [`refs/heads/${base}`, `refs/remotes/${base}`, baseCommit ?? ""]) {
    const { code, stdout } = await tryGit(path, ["merge-base", ref, "HEAD"]);
    if (code === 0) return stdout.trim();
  }
  return baseCommit ?? "HEAD";
}

async function readStat(path: string, from: string, index: WithIndex): Promise<DiffStat> {
  // Of a binary file there are no lines to count: `-`.
  const entries = parts(await git(path, ["diff", "--numstat", "-z", "--no-renames", from, "--"], index));
  const count = (column: number) => entries.reduce((sum, entry) => sum + (Number.parseInt(entry.split("\t")[column] ?? "", 10) || 0), 0);
  return { files: entries.length, insertions: count(0), deletions: count(1) };
}
