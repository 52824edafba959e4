/**
 * Operations on checkpoints. Each workspace runs one at a time: a rewind, a turn's checkpoint and a removal never overlap. Git has a checkpoint
 * before the journal does; a crash in between loses only an event.
 */
import { existsSync } from "node:fs";
import { type Checkpoint, type CheckpointDiff, HoldfastError, type Principal, type SessionId, type WorkspaceId } from "@holdfast/contract";
import { describe, type KeyedMutex, log } from "@holdfast/platform";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries } from "../../projection/session-queries.ts";
import type { WorkspaceRecord } from "../../projection/workspaces.ts";
import { type Environment, GitError, git, parts } from "../git/git.ts";
import { takeTree } from "../git/snapshot.ts";
import { DEFAULT_PROJECT, readProject } from "../setup/project.ts";
import {
  countChanges,
  createCheckpoint,
  findCheckpoint,
  keepAsCheckpoint,
  lastKnown,
  listCheckpoints,
  type Place,
  type Why,
} from "./checkpoints.ts";
import { rewind } from "./rewind.ts";

export interface RewindRequest {
  number: number;
  filesOnly: boolean;
  /** Rewinds even while a session is in a turn. */
  force: boolean;
}

export interface DiffRequest {
  /** Default: the last known state. */
  from?: number | undefined;
  /** Default: the current files. */
  to?: number | undefined;
  stat: boolean;
  names: boolean;
  color: boolean;
}

export interface Changed {
  since: number;
  files: number;
}

export class Checkpoints {
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  readonly #envOf: (session: SessionId) => Environment | undefined;
  readonly #mutex: KeyedMutex;

  /** `envOf`: the environment that a session was started with. Its git is used, because the daemon has a minimal PATH. */
  constructor(options: {
    journal: Journal;
    sessions: SessionQueries;
    mutex: KeyedMutex;
    envOf(session: SessionId): Environment | undefined;
  }) {
    this.#journal = options.journal;
    this.#sessions = options.sessions;
    this.#mutex = options.mutex;
    this.#envOf = options.envOf;
  }

  list(record: WorkspaceRecord, { now }: { now: boolean }): Promise<{ checkpoints: Checkpoint[]; changed: Changed | null }> {
    return translated(async () => {
      const place = this.placeOf(record);
      const checkpoints = await listCheckpoints(place.worktree, place.workspace, place.env);
      const last = lastOf(checkpoints);
      if (!now || !last) return { checkpoints, changed: null };
      const { tree } = await takeTree(place.worktree, { env: place.env });
      return { checkpoints, changed: { since: last.number, files: await countChanges(place, last.tree, tree) } };
    });
  }

  create(record: WorkspaceRecord, { actor, ...why }: Why & { actor: Principal }): Promise<Checkpoint> {
    return this.inLine(record.id, async () => {
      const checkpoint = await createCheckpoint(this.placeOf(record), { ...why, keep: keptOf(record) });
      this.#tell(record, checkpoint, actor);
      return checkpoint;
    });
  }

  get(record: WorkspaceRecord, number: number): Promise<Checkpoint> {
    return translated(() => findCheckpoint(this.placeOf(record), number));
  }

  /** Returns a checkpoint of the current state: the last one, or a new one if anything has changed. */
  current(record: WorkspaceRecord, { actor, ...why }: Why & { actor: Principal }): Promise<Checkpoint> {
    return this.inLine(record.id, async () => {
      const place = this.placeOf(record);
      const last = lastOf(await listCheckpoints(place.worktree, place.workspace, place.env));
      const taken = await takeTree(place.worktree, { env: place.env });
      const isSame = last?.tree === taken.tree && last.head === taken.head;
      // Callers report the left-out files, so that list must be current too.
      if (last && isSame && JSON.stringify(last.leftOut) === JSON.stringify(taken.leftOut)) return last;
      const checkpoint = await keepAsCheckpoint(place, taken, { ...why, keep: keptOf(record) });
      this.#tell(record, checkpoint, actor);
      return checkpoint;
    });
  }

  diff(record: WorkspaceRecord, request: DiffRequest): Promise<CheckpointDiff> {
    return translated(async () => {
      const place = this.placeOf(record);
      const from = request.from === undefined ? await lastKnownOf(place) : await findCheckpoint(place, request.from);
      const to = request.to === undefined ? null : await findCheckpoint(place, request.to);
      const tree = to?.tree ?? (await takeTree(place.worktree, { env: place.env })).tree;
      const format = request.names ? ["--name-status"] : request.stat ? ["--stat"] : [];
      const color = request.color ? "--color=always" : "--no-color";
      const between = [from.tree, tree, "--"];
      const [diff, numbers] = await Promise.all([
        git(place.worktree, ["diff", "--no-ext-diff", "--submodule=short", ...format, color, ...between], { env: place.env }),
        git(place.worktree, ["diff", "--numstat", "-z", "--no-renames", ...between], { env: place.env }),
      ]);
      return { diff: diff === "" ? "" : `${diff}\n`, from: from.number, to: to?.number ?? null, ...countLines(numbers) };
    });
  }

  /** Returns the target and the state before. */
  rewind(record: WorkspaceRecord, request: RewindRequest & { actor: Principal }): Promise<{ to: Checkpoint; before: Checkpoint }> {
    const { number, filesOnly, force, actor } = request;
    return this.inLine(record.id, async () => {
      const place = this.placeOf(record);
      const to = await findCheckpoint(place, number);
      if (!force) this.#refuseInTurn(record);
      const before = await rewind(place, to, { filesOnly, keep: keptOf(record) });
      this.#tell(record, before, actor);
      this.#journal.append({
        type: "checkpoint.rewound",
        actor,
        session: null,
        data: { id: record.id, number, before: before.number, filesOnly },
      });
      return { to, before };
    });
  }

  /** Runs after the workspace's current operation: another checkpoint, a rewind, a removal. */
  inLine<T>(id: WorkspaceId, work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(id, () => translated(work));
  }

  /** Throws for a plain directory or a removed workspace. */
  placeOf(record: WorkspaceRecord): Place {
    if (record.kind === "plain")
      throw new HoldfastError("repository_unusable", `${record.name} is a plain directory, and checkpoints need git`, {
        hint: "use a worktree of a git repository: holdfast spawn AGENT --worktree",
      });
    if (record.removedAt !== null || !existsSync(record.path))
      throw new HoldfastError(
        "workspace_removed",
        `${record.name} ${record.removedAt === null ? "no longer has a directory" : "was removed"}`,
        {
          hint: `recover it: holdfast workspace recover ${record.name}`,
        },
      );
    const lives = this.#sessions.live().findLast(({ workspace }) => workspace?.id === record.id);
    return { workspace: record.id, worktree: record.path, env: lives && this.#envOf(lives.id) };
  }

  #tell({ id }: WorkspaceRecord, checkpoint: Checkpoint, actor: Principal): void {
    this.#journal.append({ type: "checkpoint.created", actor, session: checkpoint.session, data: { ...checkpoint, id } });
  }

  #refuseInTurn(record: WorkspaceRecord): void {
    const busy = this.#sessions.live().filter(({ workspace, standing }) => workspace?.id === record.id && standing?.turn === "working");
    const [first] = busy;
    if (!first) return;
    throw new HoldfastError(
      "rewind_refused",
      `${busy.map(({ name }) => name).join(", ")} is in a turn in ${record.name}; nothing was changed`,
      {
        hint: `wait for its end (holdfast wait ${first.name}), stop it (holdfast stop ${first.name}), or pass --force`,
        candidates: busy.map(({ name }) => name),
      },
    );
  }
}

async function lastKnownOf(place: Place): Promise<Checkpoint> {
  const last = lastOf(await listCheckpoints(place.worktree, place.workspace, place.env));
  return last ?? (await findCheckpoint(place, 1));
}

function lastOf(checkpoints: readonly Checkpoint[]): Checkpoint | undefined {
  return lastKnown(checkpoints.map((checkpoint) => ({ number: checkpoint.number, checkpoint })))?.checkpoint;
}

/** Reads the setting from the repository, not from the worktree, which an agent may have changed. */
function keptOf({ name, repo }: WorkspaceRecord): number {
  try {
    return readProject(repo).checkpoints;
  } catch (error) {
    log(`workspace ${name}: ${describe(error)}; ${DEFAULT_PROJECT.checkpoints} checkpoints are kept`);
    return DEFAULT_PROJECT.checkpoints;
  }
}

/** Binary files have `-` instead of line counts. */
function countLines(numstat: string): { files: number; insertions: number; deletions: number } {
  const entries = parts(numstat).map((entry) => entry.split("\t"));
  const sum = (column: number) => entries.reduce((total, entry) => total + (Number.parseInt(entry[column] ?? "", 10) || 0), 0);
  return { files: entries.length, insertions: sum(0), deletions: sum(1) };
}

export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new HoldfastError("git_failed", error.message, { hint: "check the worktree: git status", cause: error });
  }
}
