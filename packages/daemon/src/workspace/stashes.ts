/**
 * Worktrees of a repository share one stash, and git has no other: `git stash pop` in one takes what another has put there. So every entry is kept
 * under a ref of ours when it is seen, and one that is gone is looked for: where the files of another workspace are now as it had them, that one took it.
 */
import type { EventData, WorkspaceId } from "@holdfast/contract";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { git, parts, tryGit } from "./git.ts";
import type { Repository } from "./repository.ts";

export type StashTaken = EventData<"workspace.stash_taken">;

/** Below the repository's directory: changes with each entry that comes or goes. */
export const STASH_FILE = "refs/stash";

const SEEN = "refs/holdfast/stashes/seen";
const GONE = "refs/holdfast/stashes/gone";

const MOST_ENTRIES = 100;
const MOST_FILES = 200;

type Place = Pick<WorkspaceRecord, "id" | "path" | "branch">;

/** Those that another workspace took since the last look. `tell` is called before it is forgotten that they were there. */
export async function lookAtStashes(
  { common }: Pick<Repository, "common">,
  workspaces: readonly Place[],
  tell: (taken: StashTaken) => void,
): Promise<void> {
  const here = { with: { GIT_DIR: common } };
  const listed = await tryGit(common, ["log", "-g", `--max-count=${MOST_ENTRIES}`, "--format=%H", STASH_FILE, "--"], here);
  const there = listed.code === 0 ? listed.stdout.split("\n").filter(Boolean) : [];
  const seen = (await git(common, ["for-each-ref", "--format=%(objectname)", `${SEEN}/`], here)).split("\n").filter(Boolean);
  for (const commit of there.filter((each) => !seen.includes(each))) await git(common, ["update-ref", `${SEEN}/${commit}`, commit], here);
  for (const commit of seen.filter((each) => !there.includes(each))) {
    const ref = `${GONE}/${commit}`;
    const taken = await whoTook(common, commit, workspaces);
    await git(common, ["update-ref", ref, commit], here);
    if (taken) tell({ ...taken, commit, ref });
    await git(common, ["update-ref", "-d", `${SEEN}/${commit}`], here);
  }
}

/** Undefined: its own workspace has it back, or nobody has it. */
async function whoTook(
  common: string,
  commit: string,
  workspaces: readonly Place[],
): Promise<{ id: WorkspaceId; by: WorkspaceId; files: string[] } | undefined> {
  const here = { with: { GIT_DIR: common } };
  const subject = await git(common, ["log", "-1", "--format=%s", commit], here);
  const branch = /^(?:WIP on|On) ([^:]+):/.exec(subject)?.[1];
  const owner = workspaces.find((workspace) => workspace.branch === branch);
  const files = parts(await git(common, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", `${commit}^1`, commit], here));
  if (!owner || files.length === 0 || (await hasFiles(owner, commit, files))) return undefined;
  for (const other of workspaces) {
    if (other.id !== owner.id && (await hasFiles(other, commit, files)))
      return { id: owner.id, by: other.id, files: files.slice(0, MOST_FILES) };
  }
  return undefined;
}

async function hasFiles({ path }: Place, commit: string, files: readonly string[]): Promise<boolean> {
  const paths = files.slice(0, MOST_FILES).map((file) => `:(top,literal)${file}`);
  const same = ["diff", "--quiet", "--no-ext-diff", "--ignore-submodules=dirty", commit, "--", ...paths];
  return (await tryGit(path, same).catch(() => ({ code: 1 }))).code === 0;
}
