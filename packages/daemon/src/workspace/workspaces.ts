/**
 * Operations on workspaces. A worktree is created before the journal has it, and is marked on disk meanwhile. After a crash, the next start removes
 * an unfinished worktree, or records it if somebody has used it.
 */
import { existsSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import {
  checkName,
  DAEMON,
  HoldfastError,
  type LeftOut,
  newWorkspaceId,
  type Principal,
  type SessionId,
  type Workspace,
  type WorkspaceId,
  type WorkspaceSpec,
  workspaceId,
} from "@holdfast/contract";
import { counted, describe, type Home, log } from "@holdfast/platform";
import { umaskIn, umaskOf } from "@holdfast/platform/git/command";
import type { Journal } from "../journal/journal.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../projection/workspaces.ts";
import { tryContext } from "./context/context.ts";
import { type Environment, git, tryGit } from "./git/git.ts";
import { QUIET_SETTINGS } from "./git/private-index.ts";
import { findRepository, type Repository } from "./git/repository.ts";
import { orWithoutFilters } from "./git/snapshot.ts";
import { changedFiles, stateOf } from "./git/state.ts";
import { initSubmodules } from "./git/submodules.ts";
import { addWorktree, planBeginning, undoAdd } from "./git/worktree.ts";
import { copyFiles, untrackedFor } from "./setup/copying.ts";
import { markReady, readFiles, rememberGitDirectory, type WorkspaceFile, workspacesOnDisk, writeFiles } from "./setup/files.ts";
import { type PortRange, PortRanges } from "./setup/ports.ts";
import { type Project, readProject } from "./setup/project.ts";
import { setupEnd, setupLog, setupTail, startSetup } from "./setup/set-up.ts";
import { actionsOf, placeOf, type TrustedProjects } from "./setup/trust.ts";

export interface CreateRequest {
  /** The caller's directory: in a repository, or a plain directory. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  name: string;
  /** The session it is created for, if known. The workspace gets the same id. */
  session?: SessionId | undefined;
  branch?: string | undefined;
  base?: string | undefined;
  /** False: skips the project's set-up command. */
  setup: boolean;
  /** False: creates no Working Context, whatever the project says. */
  context?: boolean;
  /** The request in the user's own words. */
  about?: string | undefined;
  /** The tournament it is created for, and the common start commit of all entries. */
  tournament?: { of: NonNullable<WorkspaceSpec["tournament"]>; at: string } | undefined;
  /** The state of another directory of the repository to start with. */
  copyOf?: CopyOf | undefined;
}

export interface CopyOf {
  /** The top of the other directory's tree. */
  root: string;
  /** The commit that was checked out there. */
  head: string;
  /** All files, committed or not, as a tree. */
  tree: string;
  /** The base commit of the other; null: as for a new workspace. */
  baseCommit: string | null;
  /** Files that are not in the tree. */
  leftOut: readonly LeftOut[];
}

interface Created {
  record: WorkspaceRecord;
  /** Untracked files that were copied into it. */
  copied: readonly string[];
}

/** Lines of a failed set-up's log in the error. */
const TOLD_LINES = 15;

/** Worktrees read at once: each is a process that reads many files. */
const AT_ONCE = 4;

const NOT_A_REPOSITORY = "not a git repository: sessions work in the directory itself, without a branch and without merging";

export class Workspaces {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly queries: WorkspaceQueries;
  readonly ports: PortRanges;
  readonly trusted: TrustedProjects;
  /** Names of workspaces being created. */
  readonly #making = new Set<string>();
  readonly #ending = new AbortController();

  constructor(options: { home: Home; journal: Journal; queries: WorkspaceQueries; trusted: TrustedProjects }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.queries = options.queries;
    this.trusted = options.trusted;
    this.ports = new PortRanges(() => options.queries.list());
  }

  /** Returns when the workspace is ready and its set-up done. Throws `setup_failed` if the set-up failed; the workspace still exists. */
  async create(request: CreateRequest, actor: Principal): Promise<WorkspaceRecord> {
    return (await this.#create(request, actor)).record;
  }

  /** Like `create`, but returns the view of the new workspace. */
  async createAndView(request: CreateRequest, actor: Principal): Promise<Workspace> {
    const { record, copied } = await this.#create(request, actor);
    return this.view(record, record.setup === null ? copied : undefined);
  }

  /** Returns the workspace that an earlier daemon made for this owner's session but never started the session in. */
  madeFor(session: SessionId, owner: Principal): WorkspaceRecord | undefined {
    const made = this.queries.get(workspaceId(session));
    if (made?.owner !== owner || made.removedAt !== null) return undefined;
    return made.setup === null || made.setup.state === "done" ? made : undefined;
  }

  #newId({ session }: CreateRequest): WorkspaceId {
    const wanted = session && workspaceId(session);
    const isFree = wanted !== undefined && !existsSync(this.directoryOf(wanted)) && this.queries.get(wanted) === undefined;
    return isFree ? wanted : newWorkspaceId();
  }

  /** Throws the errors of `create` without creating anything. `branch`: the branch it would be on. */
  async check(request: CreateRequest): Promise<{ repository: string | null; branch: string | null }> {
    const name = this.#freeName(request.name);
    const { repository, project } = await this.checkTrust(request);
    if (repository) return { repository: repository.path, branch: (await beginningOf(request, { name, repository, project })).branch };
    this.#plainPath(request);
    return { repository: null, branch: null };
  }

  /** Returns the project as checked. It must not be read again before its actions run. */
  async checkTrust({ cwd, env, setup }: Pick<CreateRequest, "cwd" | "env" | "setup">) {
    const repository = await findRepository(cwd, env);
    const place = placeOf(repository, cwd);
    const project = readProject(place.tree);
    this.trusted.check(actionsOf(project, { ...place, setup }));
    return { repository, project };
  }

  #freeName(wanted: string): string {
    const name = checkName(wanted);
    if (this.#making.has(name) || this.queries.byName(name)) throw nameTaken(name);
    return name;
  }

  async #create(request: CreateRequest, actor: Principal): Promise<Created> {
    const name = this.#freeName(request.name);
    this.#making.add(name);
    try {
      const { repository, project } = await this.checkTrust(request);
      using held = await this.ports.hold(project.ports);
      const range = { portBase: held.portBase, ports: held.ports };
      const { record, copied } = await (repository
        ? this.#createTree(request, { name, range, repository, project, actor })
        : this.#createPlain(request, { name, range, project, actor }));
      if (project.setup !== null && request.setup) await this.#setUp(record, project.setup, { env: request.env, actor });
      return { record: this.queries.resolve(record.id), copied };
    } finally {
      this.#making.delete(name);
    }
  }

  async #createTree(
    request: CreateRequest,
    of: { name: string; range: PortRange; repository: Repository; project: Project; actor: Principal },
  ): Promise<Created> {
    const { name, repository, project, actor } = of;
    const { env } = request;
    const { copyOf } = request;
    const planned = await beginningOf(request, of);
    const beginning = copyOf ? { ...planned, baseCommit: copyOf.baseCommit ?? planned.baseCommit, from: copyOf.head } : planned;
    const id = this.#newId(request);
    const path = join(this.directoryOf(id), `${repositoryName(repository)}-${name}`);
    const spec: WorkspaceSpec = {
      id,
      name,
      kind: "worktree",
      path,
      repo: repository.path,
      branch: beginning.branch,
      ownBranch: beginning.isNew,
      base: beginning.base,
      baseCommit: beginning.baseCommit,
      ...of.range,
      notes: [],
      ...(request.tournament ? { tournament: request.tournament.of } : {}),
    };
    mkdirSync(this.directoryOf(id), { recursive: true, mode: 0o700 });
    const umask = umaskOf({ env });
    writeFiles(this.directoryOf(id), { ...spec, owner: actor, createdAt: new Date().toISOString(), making: true, umask });
    try {
      // In a large repository each takes a while, and they are independent.
      const [lfs, left, untracked] = await Promise.all([
        addWorktree(repository, { path, name, beginning, env }),
        copyOf ? notCopied(copyOf.leftOut) : leftBehind(repository, beginning.base),
        repository.tree === null ? [] : untrackedFor(repository.tree, project.copy),
      ]);
      rememberGitDirectory(this.directoryOf(id), repository.common);
      if (copyOf) await layFiles(path, copyOf, env);
      const missing = await initSubmodules(path, { common: repository.common, env });
      const copied = repository.tree === null ? [] : await copyFiles(repository.tree, path, untracked);
      const notes = [...lfs, ...missing, ...left, ...layOut(path, request, project)];
      return { record: this.#record({ ...spec, notes }, actor), copied };
    } catch (error) {
      await undoAdd(repository.tree ?? repository.path, { path, beginning, env });
      rmSync(this.directoryOf(id), { recursive: true, force: true });
      throw error;
    }
  }

  async #createPlain(
    request: CreateRequest,
    { name, range, project, actor }: { name: string; range: PortRange; project: Project; actor: Principal },
  ): Promise<Created> {
    const path = this.#plainPath(request);
    const id = this.#newId(request);
    const none = { repo: null, branch: null, ownBranch: false, base: null, baseCommit: null };
    const notes = [NOT_A_REPOSITORY, ...layOut(path, request, project)];
    const spec: WorkspaceSpec = { id, name, kind: "plain", path, ...none, ...range, notes };
    mkdirSync(this.directoryOf(id), { recursive: true, mode: 0o700 });
    const umask = umaskOf(request);
    writeFiles(this.directoryOf(id), { ...spec, owner: actor, createdAt: new Date().toISOString(), making: true, umask });
    return { record: this.#record(spec, actor), copied: [] };
  }

  #plainPath(request: CreateRequest): string {
    const path = realpathSync(request.cwd);
    const known = this.queries.list().find((workspace) => workspace.path === path);
    if (known)
      throw new HoldfastError("name_taken", `${path} is already the workspace ${known.name}`, {
        hint: `use that one: --workspace ${known.name}`,
      });
    if (request.branch !== undefined || request.base !== undefined)
      throw new HoldfastError("repository_unusable", `${path} is not in a git repository, so it has no branches`, {
        hint: "make it one (git init), or omit branch and base",
      });
    return path;
  }

  #record(spec: WorkspaceSpec, actor: Principal): WorkspaceRecord {
    this.#journal.append({ type: "workspace.created", actor, session: null, data: spec });
    try {
      markReady(this.directoryOf(spec.id), spec);
    } catch (error) {
      // The journal has the workspace: a full disk must not undo it.
      log(`workspace ${spec.id}: ${describe(error)}`);
    }
    return this.queries.resolve(spec.id);
  }

  async #setUp(record: WorkspaceRecord, command: string, { env, actor }: { env: Environment; actor: Principal }): Promise<void> {
    const directory = this.directoryOf(record.id);
    this.#journal.append({ type: "workspace.setup_started", actor, session: null, data: { id: record.id, command } });
    startSetup(directory, { tree: record.path, command, env: this.commandEnvironment(record, env), umask: umaskIn(record.path, env) });
    const { state, exitCode } = await this.#recordSetup(record);
    if (state === "done") return;
    const said = setupTail(directory, TOLD_LINES);
    const how = exitCode === null ? "was interrupted" : `failed with exit code ${exitCode}`;
    throw new HoldfastError("setup_failed", `the set-up of ${record.name} (${command}) ${how}${said === "" ? "" : `:\n${said}`}`, {
      hint: `its whole output: ${setupLog(directory)}; the workspace exists: --workspace ${record.name} uses it as it is, holdfast workspace rm ${record.name} removes it`,
    });
  }

  async #recordSetup({ id }: WorkspaceRecord) {
    const end = await setupEnd(this.directoryOf(id), this.#ending.signal);
    this.#journal.append({ type: "workspace.setup_ended", actor: DAEMON, session: null, data: { id, ...end } });
    return end;
  }

  /** Includes git's current state of each workspace. */
  async list(filter: { all?: boolean; repo?: string | undefined } = {}): Promise<Workspace[]> {
    const wanted = filter.repo === undefined ? undefined : ((await findRepository(filter.repo))?.path ?? filter.repo);
    const records = this.queries
      .list({ all: filter.all ?? false })
      .filter(({ repo, path }) => wanted === undefined || wanted === (repo ?? path));
    const views: Workspace[] = [];
    for (let from = 0; from < records.length; from += AT_ONCE) {
      views.push(...(await Promise.all(records.slice(from, from + AT_ONCE).map((record) => this.view(record)))));
    }
    return views;
  }

  async get(ref: string): Promise<Workspace> {
    return this.view(this.queries.resolve(ref, { all: true }));
  }

  /** `only`: the only paths that can have changed. */
  async view(record: WorkspaceRecord, only?: readonly string[]): Promise<Workspace> {
    const { mergedTip, mergedCommit, conflicts, setup, ...rest } = record;
    const state = await stateOf(record, only);
    return {
      ...rest,
      setup: setup && { ...setup, log: setupLog(this.directoryOf(record.id)) },
      sessions: this.queries.sessionsOf(record.id),
      ...state,
      conflicts: conflicts.flatMap(({ workspace, files }) => {
        const other = this.queries.get(workspace);
        return other && other.removedAt === null ? [{ workspace: other.name, files }] : [];
      }),
    };
  }

  /** Environment variables for its sessions and its set-up. */
  environmentOf({ id, portBase, repo }: WorkspaceSpec): Record<string, string> {
    return { HOLDFAST_WORKSPACE: id, HOLDFAST_PORT_BASE: String(portBase), ...(repo === null ? {} : { HOLDFAST_REPO: repo }) };
  }

  /** The environment of a person's command in the workspace. */
  commandEnvironment(spec: WorkspaceSpec, env: Environment): Record<string, string> {
    return { ...ownEnvironment(env), ...this.environmentOf(spec) };
  }

  /** Returns the start directory of a session requested in `cwd`: the same place in the workspace, if it exists. */
  placeIn(record: WorkspaceRecord, from: { cwd: string; tree: string | null }): string {
    if (record.kind === "plain" || from.tree === null) return record.path;
    const below = relative(from.tree, from.cwd);
    const place = join(record.path, below);
    return below !== "" && !below.startsWith("..") && existsSync(place) ? place : record.path;
  }

  directoryOf(id: WorkspaceId): string {
    return join(this.#home.workspaces, id);
  }

  /** Removes an unused workspace without recovery data, because its session never started. */
  async discardNew(record: WorkspaceRecord, actor: Principal): Promise<void> {
    this.#journal.append({
      type: "workspace.removed",
      actor,
      session: null,
      data: { id: record.id, name: record.name, ref: null, why: "gone" },
    });
    await this.#takeAway(record);
  }

  /** Completes what the last daemon left unfinished. Called at the daemon's start. `restored`: the journal may have lost workspaces. */
  async begin({ restored }: { restored: boolean }): Promise<void> {
    mkdirSync(this.#home.workspaces, { recursive: true, mode: 0o700 });
    for (const id of workspacesOnDisk(this.#home.workspaces)) {
      try {
        if (!this.queries.get(id)) await this.#settle(id, restored);
      } catch (error) {
        log(`workspace ${id}: ${describe(error)}`);
      }
    }
    for (const record of this.queries.list()) {
      if (record.setup?.state === "running") void this.#recordSetup(record).catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #settle(id: WorkspaceId, restored: boolean): Promise<void> {
    const file = readFiles(this.directoryOf(id));
    if (!file) return;
    const { owner, createdAt, making, gitDir, umask, ...spec } = file;
    if (making && !restored && !(await isUsed(file))) return this.#takeAway(spec);
    const name = this.queries.byName(spec.name) ? `${spec.name}-${id}` : spec.name;
    this.#journal.append({ type: "workspace.rebuilt", actor: DAEMON, session: null, data: { ...spec, name, owner, createdAt } });
    markReady(this.directoryOf(id), { ...spec, name });
  }

  async #takeAway(spec: WorkspaceSpec): Promise<void> {
    if (spec.kind === "worktree" && spec.repo !== null && spec.branch !== null && existsSync(spec.repo))
      await undoAdd(spec.repo, {
        path: spec.path,
        beginning: { branch: spec.branch, isNew: spec.ownBranch, baseCommit: spec.baseCommit ?? "" },
      });
    rmSync(this.directoryOf(spec.id), { recursive: true, force: true });
  }
}

/** Plans the start of the requested worktree; throws if it would be refused. */
function beginningOf(
  { branch, base, tournament, copyOf, env }: CreateRequest,
  { name, repository, project }: { name: string; repository: Repository; project: Project },
) {
  const at = tournament?.at ?? copyOf?.baseCommit ?? undefined;
  return planBeginning(repository, { branch, base: base ?? project.base ?? undefined, name, at, env });
}

function nameTaken(name: string): HoldfastError {
  return new HoldfastError("name_taken", `a workspace named ${JSON.stringify(name)} already exists`, {
    hint: `choose another name, use that workspace (--workspace ${name}), or remove it: holdfast workspace rm ${name}`,
  });
}

function repositoryName({ path, bare }: Repository): string {
  const name = basename(path).replace(/\.git$/, "") || (bare ? "repository" : "root");
  return name.replace(/[^\p{L}\p{N}._-]/gu, "-");
}

/** Creates the Working Context. A failure becomes a note. */
function layOut(path: string, { context = true, about, copyOf, env }: CreateRequest, project: Project): string[] {
  const trouble = context && project.context ? tryContext(path, { about, copyOf: copyOf?.root, umask: umaskIn(path, env) }) : null;
  return trouble === null ? [] : [trouble];
}

/** Keeps commits committed, and uncommitted changes uncommitted. */
async function layFiles(path: string, { tree, head }: CopyOf, env: Environment): Promise<void> {
  await orWithoutFilters(path, env, async (settings) => {
    const quiet = [...QUIET_SETTINGS, ...settings, "read-tree"];
    await git(path, [...quiet, "--reset", "-u", tree], { env });
    await git(path, [...quiet, "-m", head], { env });
  });
  await tryGit(path, ["update-index", "-q", "--refresh"], { env });
}

function notCopied(leftOut: readonly LeftOut[]): string[] {
  const WHY = { large: "too large", unreadable: "cannot be read", repository: "a nested repository" };
  return leftOut.map(({ path, why }) => `not copied: ${path} (${WHY[why]})`);
}

/** Notes uncommitted changes of the source tree, which are not in the new worktree. */
async function leftBehind({ tree }: Repository, base: string): Promise<string[]> {
  if (tree === null) return [];
  const { code, stdout } = await tryGit(tree, ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"]);
  const count = code === 0 ? stdout.split("\0").filter(Boolean).length : 0;
  return count === 0
    ? []
    : [`${counted(count, "uncommitted change")} of ${tree} ${count === 1 ? "is" : "are"} not in it: it starts from ${base}`];
}

/** True if an unfinished workspace has commits or files of its own. */
async function isUsed(spec: WorkspaceFile): Promise<boolean> {
  if (spec.kind === "plain" || !existsSync(spec.path)) return false;
  const head = await tryGit(spec.path, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  const files = await changedFiles(spec.path);
  // An interrupted checkout lacks files, which is nobody's work.
  const isWork = files === undefined || files.some((file) => !/^(?: D|D |\?\? )/.test(file));
  return isWork || (head.code === 0 && spec.ownBranch && head.stdout.trim() !== spec.baseCommit);
}

/** The person's environment, without variables of their own session or terminal. */
function ownEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(HOLDFAST_|TMUX)/.test(entry[0]),
  );
  return Object.fromEntries(kept);
}
