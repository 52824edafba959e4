/**
 * Checkpoints of a workspace: refs in its repository, `refs/holdfast/checkpoints/<workspace>/<number>`. Each is a snapshot (snapshot.ts) whose
 * message carries the checkpoint's other details. There is no table: git is the source of truth, and events only report it.
 *
 * Numbers only increase. The newest checkpoint stays as long as its workspace, even after its session is removed: no number is reused, and there is
 * always a checkpoint to compare with.
 */
import { Checkpoint, HoldfastError, type SessionId, type WorkspaceId, workspaceId } from "@holdfast/contract";
import { type Environment, GitError, git, parts, tryGit } from "../git/git.ts";
import { QUIET_SETTINGS } from "../git/private-index.ts";
import { commitSnapshot, type Taken, takeTree } from "../git/snapshot.ts";

export const KEPT_CHECKPOINTS = 100;

/** A workspace and its working tree. */
export interface Place {
  workspace: WorkspaceId;
  /** The workspace's own working tree. */
  worktree: string;
  env?: Environment | undefined;
}

export interface Why {
  why: Checkpoint["why"];
  session?: SessionId | null;
  turn?: number | null;
  note?: string | null;
  rewoundTo?: number | null;
}

export interface CreateOptions extends Why {
  /** How many of the newest checkpoints to keep. */
  keep?: number | undefined;
  largeFile?: number;
}

/** Lists oldest first. `directory`: any directory of the repository. */
export async function listCheckpoints(directory: string, workspace: WorkspaceId, env?: Environment): Promise<Checkpoint[]> {
  const kept = await readRefs(directory, workspace, env);
  return kept.flatMap(({ checkpoint }) => checkpoint ?? []);
}

/** Lists the checkpoints of every workspace of the repository, including those of other homes. */
export async function listAllCheckpoints(directory: string, env?: Environment): Promise<Map<WorkspaceId, Checkpoint[]>> {
  const all = new Map<WorkspaceId, Checkpoint[]>();
  for (const { workspace, checkpoint } of await readRefs(directory, "*", env)) {
    if (checkpoint) all.set(workspace, [...(all.get(workspace) ?? []), checkpoint]);
  }
  return all;
}

export async function findCheckpoint(place: Place, number: number): Promise<Checkpoint> {
  const all = await listCheckpoints(place.worktree, place.workspace, place.env);
  const found = all.find((checkpoint) => checkpoint.number === number);
  if (found) return found;
  const [first, last] = [all[0]?.number, all.at(-1)?.number];
  throw new HoldfastError("checkpoint_not_found", `there is no checkpoint ${number}`, {
    hint:
      first === undefined
        ? "the workspace has none yet; create one: holdfast checkpoint create"
        : `there are ${first} to ${last}; list them: holdfast checkpoint ls`,
  });
}

/** Saves the current state. */
export async function createCheckpoint(place: Place, options: CreateOptions): Promise<Checkpoint> {
  const taken = await takeTree(place.worktree, {
    env: place.env,
    ...(options.largeFile === undefined ? {} : { largeFile: options.largeFile }),
  });
  return await keepAsCheckpoint(place, taken, options);
}

/** `also`: commits to preserve besides what is checked out. */
export async function keepAsCheckpoint(
  place: Place,
  taken: Taken,
  options: CreateOptions & { also?: readonly string[] },
): Promise<Checkpoint> {
  const { worktree, workspace, env } = place;
  const before = await readRefs(worktree, workspace, env);
  const details = {
    head: taken.head,
    branch: taken.branch,
    at: new Date().toISOString(),
    why: options.why,
    session: options.session ?? null,
    turn: options.turn ?? null,
    note: options.note ?? null,
    rewoundTo: options.rewoundTo ?? null,
    files: await countChanges(place, lastKnown(before)?.commit ?? taken.head, taken.tree),
    leftOut: taken.leftOut,
  };
  const message = `Holdfast checkpoint (${options.why})\n\n${JSON.stringify(details)}\n`;
  const commit = await commitSnapshot(worktree, taken, { env, message, also: options.also });
  const number = await nameIt(place, { commit, from: (before.at(-1)?.number ?? 0) + 1 });
  const beyond = before.slice(0, Math.max(0, before.length + 1 - Math.max(1, options.keep ?? KEPT_CHECKPOINTS)));
  // The rewind's target must survive in case the rewind is interrupted.
  await remove(
    place,
    beyond.filter((kept) => kept.number !== details.rewoundTo),
  );
  return { number, commit, tree: taken.tree, ...details };
}

/** Returns the last known state of a workspace: its newest checkpoint, or the one it was later rewound to. */
export function lastKnown<C extends { number: number; checkpoint?: Checkpoint | undefined }>(all: readonly C[]): C | undefined {
  const newest = all.at(-1);
  const to = newest?.checkpoint?.rewoundTo ?? null;
  return all.find(({ number }) => number === to) ?? newest;
}

/** Removes all checkpoints of a removed workspace. `directory`: any directory of the repository. */
export async function removeCheckpoints(directory: string, workspace: WorkspaceId, env?: Environment): Promise<void> {
  await remove({ worktree: directory, env }, await readRefs(directory, workspace, env));
}

/** Removes a removed session's checkpoints, except the workspace's newest. */
export async function removeCheckpointsOf(place: Place, session: SessionId): Promise<number> {
  const all = await readRefs(place.worktree, place.workspace, place.env);
  const gone = all.slice(0, -1).filter(({ checkpoint }) => checkpoint?.session === session);
  await remove(place, gone);
  return gone.length;
}

/** Counts the files that differ between two commits or trees. `from` null: an empty tree. */
export async function countChanges({ worktree, env }: Pick<Place, "worktree" | "env">, from: string | null, to: string): Promise<number> {
  const args =
    from === null ? ["ls-tree", "-r", "-z", "--name-only", to] : ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  return parts(await git(worktree, args, { env, encoding: "latin1" })).length;
}

interface Kept {
  workspace: WorkspaceId;
  number: number;
  ref: string;
  commit: string;
  /** Undefined if a later version or another program wrote it. */
  checkpoint: Checkpoint | undefined;
}

const PREFIX = "refs/holdfast/checkpoints/";

function refOf(workspace: WorkspaceId, number: number): string {
  return `${PREFIX}${workspace}/${number}`;
}

/** Sorted by number. */
async function readRefs(directory: string, workspace: WorkspaceId | "*", env: Environment | undefined): Promise<Kept[]> {
  const format = "%(refname)%00%(objectname)%00%(tree)%00%(contents:body)%00";
  const text = await git(directory, ["for-each-ref", `--format=${format}`, workspace === "*" ? PREFIX : `${PREFIX}${workspace}/`], { env });
  const kept: Kept[] = [];
  const fields = text.split("\0");
  for (let at = 0; at + 4 <= fields.length; at += 4) {
    const [ref = "", commit = "", tree = "", body = ""] = fields.slice(at, at + 4).map((field) => field.trim());
    const [, of = "", digits = ""] = /^([a-z2-7]+)\/([1-9][0-9]{0,9})$/.exec(ref.slice(PREFIX.length)) ?? [];
    const number = Number(digits);
    if (number > 0) kept.push({ workspace: workspaceId(of), number, ref, commit, checkpoint: read({ number, commit, tree, body }) });
  }
  return kept.sort((a, b) => a.number - b.number);
}

function read({ body, ...known }: { number: number; commit: string; tree: string; body: string }): Checkpoint | undefined {
  try {
    const { data } = Checkpoint.safeParse({ ...(JSON.parse(body) as object), ...known });
    return data;
  } catch {
    return undefined;
  }
}

/** Creates the ref. If another process took the number, tries the next one. */
async function nameIt(place: Place, { commit, from }: { commit: string; from: number }): Promise<number> {
  const MOST_TRIES = 100;
  for (let number = from; ; number++) {
    const ref = refOf(place.workspace, number);
    // With an empty old value, git refuses a ref that exists.
    const args = [...QUIET_SETTINGS, "update-ref", ref, commit, ""];
    const made = await tryGit(place.worktree, args, { env: place.env });
    if (made.code === 0) return number;
    const taken = (await tryGit(place.worktree, ["rev-parse", "--verify", "--quiet", ref], { env: place.env })).code === 0;
    if (!taken || number - from >= MOST_TRIES) throw new GitError(args, made);
  }
}

/** Deletes the refs in one transaction. Numbers are never reused, so no ref can have a new meaning. A missing ref is no error. */
async function remove({ worktree, env }: Pick<Place, "worktree" | "env">, gone: readonly Kept[]): Promise<void> {
  if (gone.length === 0) return;
  const input = gone.map(({ ref }) => `delete ${ref}\0\0`).join("");
  await git(worktree, [...QUIET_SETTINGS, "update-ref", "-z", "--stdin"], { env, input });
}
