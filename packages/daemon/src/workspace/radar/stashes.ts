/**
 * Worktrees of a repository share one stash: `git stash pop` in one can take another's entry. So every entry is copied to a Holdfast ref when first
 * seen. When an entry disappears, its taker is the other workspace whose files now match it or contain most of the lines it added. Copies of
 * entries that are gone are removed by age (removal/collect.ts).
 */
import type { EventData, WorkspaceId } from "@holdfast/contract";
import type { WorkspaceRecord } from "../../projection/workspaces.ts";
import { git, parts, tryGit } from "../git/git.ts";
import type { Repository } from "../git/repository.ts";

export type StashTaken = EventData<"workspace.stash_taken">;

/** Relative to the repository's directory. Changes with every entry added or removed. */
export const STASH_FILE = "refs/stash";

const SEEN = "refs/holdfast/stashes/seen";
export const GONE_STASHES = "refs/holdfast/stashes/gone";

const MOST_ENTRIES = 100;
const MOST_FILES = 200;

/** Share of a stash's added lines that its taker may have changed since. */
const MOST_EDITED = 0.5;

type Place = Pick<WorkspaceRecord, "id" | "path" | "branch">;

/** Reports entries that another workspace took since the last look. `tell` is called before the entry's `seen` ref is deleted. */
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
    const ref = `${GONE_STASHES}/${commit}`;
    const taken = await whoTook(common, commit, workspaces);
    await git(common, ["update-ref", ref, commit], here);
    if (taken) tell({ ...taken, commit, ref });
    await git(common, ["update-ref", "-d", `${SEEN}/${commit}`], here);
  }
}

/** Returns undefined if the owner has the changes back, or no workspace has them. */
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
  const taker = await whoEdits({ common, commit, files }, { owner, workspaces });
  return taker && { id: owner.id, by: taker.id, files: files.slice(0, MOST_FILES) };
}

/** For an entry that was popped and edited: returns the workspace with most of its lines uncommitted, if it has more than the owner. */
async function whoEdits(
  { common, commit, files }: { common: string; commit: string; files: readonly string[] },
  { owner, workspaces }: { owner: Place; workspaces: readonly Place[] },
): Promise<Place | undefined> {
  const paths = pathsOf(files);
  const added = linesIn(
    await git(common, ["diff-tree", "-r", "-p", ...PLAIN_DIFF, `${commit}^1`, commit, "--", ...paths], { with: { GIT_DIR: common } }),
  );
  if (added.size === 0) return undefined;
  const shareOf = async ({ path }: Place): Promise<number> => {
    const { code, stdout } = await tryGit(path, ["diff", ...PLAIN_DIFF, "HEAD", "--", ...paths]).catch(() => ({ code: 1, stdout: "" }));
    const now = code === 0 ? linesIn(stdout) : new Set<string>();
    return [...added].filter((line) => now.has(line)).length / added.size;
  };
  let best: { place: Place; share: number } | undefined;
  for (const place of workspaces) {
    const share = place.id === owner.id ? 0 : await shareOf(place);
    if (share >= 1 - MOST_EDITED && share > (best?.share ?? 0)) best = { place, share };
  }
  return best && best.share > (await shareOf(owner)) ? best.place : undefined;
}

const PLAIN_DIFF = [
  "--unified=0",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
  "--ignore-submodules=dirty",
];

/** Returns the lines that a patch adds, each with its file. Empty lines are ignored. */
function linesIn(patch: string): Set<string> {
  const lines = new Set<string>();
  let file = "";
  for (const line of patch.split("\n")) {
    if (line.startsWith("+++ ")) file = line;
    else if (line.startsWith("+") && line.slice(1).trim() !== "") lines.add(`${file}\n${line}`);
  }
  return lines;
}

function pathsOf(files: readonly string[]): string[] {
  return files.slice(0, MOST_FILES).map((file) => `:(top,literal)${file}`);
}

async function hasFiles({ path }: Place, commit: string, files: readonly string[]): Promise<boolean> {
  const same = ["diff", "--quiet", "--no-ext-diff", "--ignore-submodules=dirty", commit, "--", ...pathsOf(files)];
  return (await tryGit(path, same).catch(() => ({ code: 1 }))).code === 0;
}
