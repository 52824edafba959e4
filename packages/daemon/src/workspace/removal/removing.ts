/**
 * Removes and recovers workspaces. Order of a removal: report what would be lost, or with force stop its sessions and set-up; keep everything under
 * a ref; append the event; only then delete directory and branch. A daemon that dies before the event has removed nothing. After the event, the
 * next start completes the removal, and first keeps later changes in the directory.
 * A workspace being recovered is marked on disk until the journal has it: while the mark exists, everything is still under the ref.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkName, HoldfastError, type Losses, type Principal, type WorkspaceId } from "@holdfast/contract";
import { counted, describe, type KeyedMutex, log } from "@holdfast/platform";
import { umaskOf } from "@holdfast/platform/git/command";
import { placeOf as gitPlaceOf } from "@holdfast/platform/git/place";
import { shellWord } from "@holdfast/platform/shell";
import type { Journal } from "../../journal/journal.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../../projection/workspaces.ts";
import { type Environment, firstLine, tryGit } from "../git/git.ts";
import { commitOf, findRepository } from "../git/repository.ts";
import { copyUntracked } from "../setup/copying.ts";
import { rememberGitDirectory, writeFiles } from "../setup/files.ts";
import { repositoryGone, type TreeRecord, withBranch } from "../setup/live.ts";
import type { PortRanges } from "../setup/ports.ts";
import { readProject } from "../setup/project.ts";
import { stopSetup } from "../setup/set-up.ts";
import { actionsOf, placeOf, type TrustedProjects } from "../setup/trust.ts";
import { lossesOf } from "./losses.ts";
import { recoverTree } from "./recover.ts";
import { keepRemains, REMOVED_REFS, type Remains, readRemains } from "./remains.ts";
import { takeAway } from "./take-away.ts";

export interface RemoveOptions {
  force: boolean;
  why: "asked" | "merged" | "gone";
  actor: Principal;
  env?: Environment | undefined;
}

export interface Removed {
  losses: Losses;
  /** The ref that recovers the workspace. */
  ref: string | null;
  notes: string[];
}

interface Kept {
  ref: string | null;
  tip: string | null;
  /** True if its files must be set aside, because git cannot keep them. */
  aside?: boolean;
}

/** File that marks a workspace being recovered. */
const MARK = "recovering";

export class Removing {
  readonly #journal: Journal;
  readonly #queries: WorkspaceQueries;
  readonly #directoryOf: (id: WorkspaceId) => string;
  readonly #setAside: string;
  readonly #stopSession: (name: string, actor: Principal) => Promise<void>;
  readonly #mutex: KeyedMutex;
  readonly #ports: PortRanges;
  readonly #trusted: TrustedProjects;

  constructor(options: {
    journal: Journal;
    queries: WorkspaceQueries;
    mutex: KeyedMutex;
    ports: PortRanges;
    trusted: TrustedProjects;
    directoryOf(id: WorkspaceId): string;
    /** Directory for files that exist nowhere else. Holdfast never deletes them. */
    setAside: string;
    stopSession(name: string, actor: Principal): Promise<void>;
  }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#mutex = options.mutex;
    this.#ports = options.ports;
    this.#trusted = options.trusted;
    this.#directoryOf = options.directoryOf;
    this.#setAside = options.setAside;
    this.#stopSession = options.stopSession;
  }

  /** A plain directory loses nothing: its files stay. */
  async losses(record: WorkspaceRecord, env?: Environment): Promise<Losses> {
    const sessions = this.#queries.sessionsOf(record.id);
    if (record.kind === "plain") return { files: [], commits: [], sessions };
    const tree = withBranch(record, "remove");
    const unreadable = await whyUnreadable(tree, env);
    if (unreadable !== undefined) return { files: existsSync(tree.path) ? [`(all of it: ${unreadable})`] : [], commits: [], sessions };
    return { ...(await lossesOf(tree, { env })), sessions };
  }

  remove(record: WorkspaceRecord, options: RemoveOptions): Promise<Removed> {
    return this.#mutex.run(record.repo ?? record.id, () => this.#remove(this.#queries.get(record.id) ?? record, options));
  }

  async #remove(record: WorkspaceRecord, { force, why, actor, env }: RemoveOptions): Promise<Removed> {
    if (record.removedAt !== null) throw alreadyRemoved(record);
    // Refuse before anything is stopped.
    if (!force) await this.#refuseUnkept(record, env);
    const losses = await this.losses(record, env);
    if (!force) refuseLosses(record, losses);
    for (const name of losses.sessions) await this.#stopSession(name, actor);
    const directory = this.#directoryOf(record.id);
    await stopSetup(directory);
    return this.#alone(record, async () => {
      rmSync(join(directory, MARK), { force: true });
      const kept = await this.#keep(record, env);
      const moved = this.#queries.sessionsOf(record.id);
      if (moved.length > 0) throw livedIn(record, { ...losses, sessions: moved });
      const { id, name } = record;
      this.#journal.append({ type: "workspace.removed", actor, session: null, data: { id, name, ref: kept.ref, why } });
      const notes = await this.#takeAway(record, kept, env);
      return { losses, ref: kept.ref, notes };
    });
  }

  /**
   * Waits for checkpoints and rewinds of the workspace, or the kept state would be a mixture. Those never wait for the repository, so no deadlock
   * is possible.
   */
  #alone<T>({ repo, id }: WorkspaceRecord, act: () => Promise<T>): Promise<T> {
    return repo === null ? act() : this.#mutex.run(id, act);
  }

  /** Keeps the workspace in its repository. Without a repository, its files are set aside unchanged. */
  async #keep(record: WorkspaceRecord, env: Environment | undefined): Promise<Kept> {
    if (record.kind === "plain") return { ref: null, tip: null };
    const tree = withBranch(record, "keep");
    if ((await whyUnreadable(tree, env)) !== undefined) return { ref: null, tip: null, aside: existsSync(tree.path) };
    const ref = await keepRemains(tree, { env });
    const remains = ref === null ? undefined : await readRemains(tree.repo, ref, { env });
    return { ref, tip: remains?.tip ?? null };
  }

  /** Throws if there are files to keep and git cannot keep them. */
  async #refuseUnkept(record: WorkspaceRecord, env: Environment | undefined): Promise<void> {
    if (record.kind === "plain") return;
    const tree = withBranch(record, "keep");
    const unreadable = await whyUnreadable(tree, env);
    if (unreadable === undefined || !existsSync(tree.path)) return;
    throw new HoldfastError("would_lose_work", `${record.name} cannot be recovered after its removal: ${unreadable}`, {
      hint: `if its repository was moved, move it back; otherwise: holdfast workspace rm ${record.name} --force, which moves its files to ${this.#setAside}`,
    });
  }

  async #takeAway(record: WorkspaceRecord, { tip, aside = false }: Omit<Kept, "ref">, env?: Environment): Promise<string[]> {
    const notes = aside ? [this.#moveAside(record)] : [];
    return [...notes, ...(await takeAway({ spec: record, directory: this.#directoryOf(record.id), tip }, { env }))];
  }

  /** Moves files that exist nowhere else. */
  #moveAside({ id, name, path }: WorkspaceRecord): string {
    const place = join(this.#setAside, `workspace-${name}-${id}`);
    mkdirSync(this.#setAside, { recursive: true, mode: 0o700 });
    renameSync(path, place);
    return `its repository is gone; its files were moved to ${place}; delete them when you like`;
  }

  /** Completes the last daemon's unfinished removals and recoveries. Called at the daemon's start. */
  async finish(): Promise<void> {
    for (const record of this.#queries.list({ all: true })) {
      const directory = this.#directoryOf(record.id);
      if (record.removedAt === null || !existsSync(directory)) continue;
      try {
        await this.#mutex.run(record.repo ?? record.id, () => this.#finishOne(record, directory));
      } catch (error) {
        log(`workspace ${record.id}: its removal is not finished: ${describe(error)}`);
      }
    }
  }

  async #finishOne(record: WorkspaceRecord, directory: string): Promise<void> {
    if (this.#queries.get(record.id)?.removedAt === null) return;
    // If its directory is missing, or was being recovered, the ref has everything.
    const isWhole = record.kind === "worktree" && existsSync(record.path) && !existsSync(join(directory, MARK));
    const { repo, recoveryRef: ref } = record;
    const remains = repo === null || ref === null || !existsSync(repo) ? undefined : await readRemains(repo, ref, {});
    const kept: Omit<Kept, "ref"> = isWhole ? await this.#keep(record, undefined) : { tip: remains?.tip ?? null };
    await this.#takeAway(record, kept);
  }

  /** Also recovers a workspace that was not removed but whose directory is gone. */
  recover(
    record: WorkspaceRecord,
    options: { name?: string | undefined; actor: Principal; env?: Environment | undefined },
  ): Promise<string[]> {
    return this.#mutex.run(record.repo ?? record.id, () => this.#recover(this.#queries.get(record.id) ?? record, options));
  }

  async #recover(
    record: WorkspaceRecord,
    { name: wanted, actor, env }: { name?: string | undefined; actor: Principal; env?: Environment | undefined },
  ): Promise<string[]> {
    const name = wanted === undefined ? record.name : checkName(wanted);
    const tree = withBranch(record, "recover");
    if (record.removedAt === null && existsSync(tree.path)) throw isThere(tree, this.#queries.list({ all: true }));
    const other = this.#queries.byName(name);
    if (other && other.id !== record.id) throw nameTaken(tree, name);
    const { remains, ref } = await this.#kept(tree, env);
    // From here on both cases are the same: a crash leaves a removed workspace.
    if (record.removedAt === null)
      this.#journal.append({ type: "workspace.removed", actor, session: null, data: { id: tree.id, name: tree.name, ref, why: "gone" } });
    const directory = this.#directoryOf(record.id);
    // Remove the remains of an earlier attempt. The ref has everything.
    await takeAway({ spec: record, directory, tip: remains.tip }, { env });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, MARK), "");

    const recovered = await recoverTree({ repo: tree.repo, path: tree.path, name, remains, files: ref }, { env });
    const ignored = await this.#copyIgnored(tree, env);
    using range = await this.#ports.hold(record.ports, record);
    const now = {
      name,
      branch: recovered.branch,
      path: tree.path,
      ownBranch: record.ownBranch || recovered.madeBranch,
      portBase: range.portBase,
      ports: range.ports,
    };
    writeFiles(directory, { ...specOf(record), ...now, making: false, umask: umaskOf({ env }) });
    rememberGitDirectory(directory, gitPlaceOf(tree.repo)?.common ?? tree.repo);
    this.#journal.append({ type: "workspace.recovered", actor, session: null, data: { id: record.id, ...now } });
    rmSync(join(directory, MARK), { force: true });
    return [...recovered.notes, ignored];
  }

  /** Returns what was kept at the removal. If the workspace was not removed, keeps its branch first. */
  async #kept(tree: TreeRecord, env: Environment | undefined): Promise<{ remains: Remains; ref: string }> {
    if (!existsSync(tree.repo)) throw repositoryGone(tree);
    const ref = `${REMOVED_REFS}/${tree.id}`;
    const isKept = (await commitOf(tree.repo, ref, env)) !== undefined;
    if (!isKept && tree.removedAt === null) await keepRemains(tree, { env });
    const remains = await readRemains(tree.repo, ref, { env });
    if (remains) return { remains, ref };
    throw new HoldfastError("workspace_removed", `nothing of ${tree.name} is left to recover`, {
      hint: "it was empty, or its recovery data was deleted after its retention time",
    });
  }

  /** Copies untracked files as for a new workspace, and returns a note. Untrusted copies are skipped, so that the work can still be recovered. */
  async #copyIgnored(tree: TreeRecord, env: Environment | undefined): Promise<string> {
    const repository = await findRepository(tree.repo, env);
    if (!repository?.tree) return IGNORED;
    const project = readProject(repository.tree);
    const actions = actionsOf(project, { ...placeOf(repository, tree.repo), setup: false });
    if (actions && !this.#trusted.isTrusted(actions)) return `${UNTRUSTED}: holdfast trust add ${shellWord(actions.directory)}`;
    await copyUntracked(repository.tree, tree.path, project.copy);
    return IGNORED;
  }
}

/** Returns why git cannot read the workspace: its repository is gone or no longer knows it. Then nothing can be checked or kept. */
export async function whyUnreadable({ repo, path }: TreeRecord, env?: Environment): Promise<string | undefined> {
  if (!existsSync(repo)) return `its repository is gone (${repo})`;
  if (!existsSync(path)) return undefined;
  const { code, stderr } = await tryGit(path, ["rev-parse", "--git-dir"], { env });
  return code === 0 ? undefined : `git cannot read ${path}: ${firstLine(stderr)}`;
}

const UNTRUSTED = "files that git ignores are not kept, and the project's copies were not made, because nobody has trusted them";

const IGNORED = "files that git ignores are not kept; the project's copies were made again";

function specOf(record: WorkspaceRecord) {
  const { setup, mergedAt, mergedTip, mergedCommit, removedAt, recoveryRef, conflicts, baseConflicts, ...spec } = record;
  return spec;
}

function refuseLosses(record: WorkspaceRecord, losses: Losses): void {
  const { files, commits, sessions } = losses;
  if (record.setup?.state === "running")
    throw new HoldfastError("workspace_lived_in", `the set-up of ${record.name} is still running: ${record.setup.command}`, {
      hint: "wait for its end, or pass --force to end it",
      candidates: listOf(losses),
    });
  if (files.length + commits.length === 0 && sessions.length === 0) return;
  if (files.length + commits.length === 0) throw livedIn(record, losses);
  const what = [
    files.length > 0 ? counted(files.length, "uncommitted file") : "",
    commits.length > 0 ? `${counted(commits.length, "commit")} that ${commits.length === 1 ? "is" : "are"} neither merged nor pushed` : "",
    sessions.length > 0 ? counted(sessions.length, "session") : "",
  ].filter((each) => each !== "");
  throw new HoldfastError("would_lose_work", `removing ${record.name} would lose ${what.join(", ")}`, {
    hint: `merge it first: holdfast workspace merge ${record.name}; or pass --force, which keeps everything for: holdfast workspace recover ${record.name}`,
    candidates: listOf(losses),
  });
}

function livedIn(record: WorkspaceRecord, losses: Losses): HoldfastError {
  const { sessions } = losses;
  return new HoldfastError(
    "workspace_lived_in",
    `${sessions.length === 1 ? "a session uses" : `${sessions.length} sessions use`} ${record.name}`,
    {
      hint: `stop ${sessions.length === 1 ? "it" : "them"} first: holdfast stop ${sessions.join(" ")}; or pass --force`,
      candidates: listOf(losses),
    },
  );
}

function listOf({ files, commits, sessions }: Losses): string[] {
  return [...files, ...commits, ...sessions.map((name) => `session ${name}`)];
}

function alreadyRemoved({ name, id }: WorkspaceRecord): HoldfastError {
  return new HoldfastError("workspace_removed", `the workspace ${name} was already removed`, {
    hint: `recover it: holdfast workspace recover ${id}`,
  });
}

function isThere({ name, id }: TreeRecord, all: readonly WorkspaceRecord[]): HoldfastError {
  const removed = all.filter((each) => each.name === name && each.id !== id && each.removedAt !== null);
  if (removed.length === 0) return new HoldfastError("name_taken", `the workspace ${name} exists: there is nothing to recover`);
  return new HoldfastError("name_taken", `another workspace now has the name ${name}`, {
    hint: `recover the removed one under another name: holdfast workspace recover ${removed.at(-1)?.id} --name NEW`,
    candidates: removed.map((each) => each.id),
  });
}

function nameTaken({ id }: TreeRecord, name: string): HoldfastError {
  return new HoldfastError("name_taken", `another workspace now has the name ${name}`, {
    hint: `choose another name: holdfast workspace recover ${id} --name NEW`,
  });
}
