/**
 * The verbs on workspaces. A worktree is made before the journal hears of it and marked on disk while it is; one that a death cut short is
 * taken away again at the next start if nobody has used it, and recorded if somebody has.
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
} from "@holdfast/contract";
import { counted, describe, type Home, log } from "@holdfast/platform";
import { umaskIn, umaskOf } from "@holdfast/platform/git/command";
import type { Journal } from "../journal/journal.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../projection/workspaces.ts";
import { tryContext } from "./context.ts";
import { copyFiles, untrackedFor } from "./copying.ts";
import { markReady, readFiles, rememberGitDirectory, type WorkspaceFile, workspacesOnDisk, writeFiles } from "./files.ts";
import { type Environment, git, tryGit } from "./git.ts";
import { type PortRange, PortRanges } from "./ports.ts";
import { QUIET_SETTINGS } from "./private-index.ts";
import { type Project, readProject } from "./project.ts";
import { findRepository, type Repository } from "./repository.ts";
import { setupEnd, setupLog, setupTail, startSetup } from "./set-up.ts";
import { orWithoutFilters } from "./snapshot.ts";
import { changedFiles, stateOf } from "./state.ts";
import { initSubmodules } from "./submodules.ts";
import { actionsOf, placeOf, type TrustedProjects } from "./trust.ts";
import { addWorktree, planBeginning, undoAdd } from "./worktree.ts";

export interface CreateRequest {
  /** Where the question comes from: in the repository, or a plain directory. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  name: string;
  /** For which it is, where that is known before: it gets the same id. */
  session?: SessionId | undefined;
  branch?: string | undefined;
  base?: string | undefined;
  /** False: the project's set-up command is left out. */
  setup: boolean;
  /** False: without a Working Context, whatever the project says. */
  context?: boolean;
  /** What is to be done in it, in its user's own words. */
  about?: string | undefined;
  /** Which tournament it is made for, and the commit that all of that begin from. */
  tournament?: { of: NonNullable<WorkspaceSpec["tournament"]>; at: string } | undefined;
  /** The state of another directory of the repository that it begins with. */
  copyOf?: CopyOf | undefined;
}

export interface CopyOf {
  /** The other directory's top. */
  root: string;
  /** What was checked out there. */
  head: string;
  /** All files, committed or not, as a tree. */
  tree: string;
  /** Where the other began; null: as a new one does. */
  baseCommit: string | null;
  /** What is not in the tree. */
  leftOut: readonly LeftOut[];
}

interface Created {
  record: WorkspaceRecord;
  /** Untracked files that it got. */
  copied: readonly string[];
}

/** How much of a set-up that failed is told at once. */
const TOLD_LINES = 15;

/** Worktrees asked at once: each is a process that reads many files. */
const AT_ONCE = 4;

const NOT_A_REPOSITORY = "not a git repository: sessions work in the directory itself, without a branch and without merging";

export class Workspaces {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly queries: WorkspaceQueries;
  readonly ports: PortRanges;
  readonly trusted: TrustedProjects;
  /** Names of those being made. */
  readonly #making = new Set<string>();
  readonly #ending = new AbortController();

  constructor(options: { home: Home; journal: Journal; queries: WorkspaceQueries; trusted: TrustedProjects }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.queries = options.queries;
    this.trusted = options.trusted;
    this.ports = new PortRanges(() => options.queries.list());
  }

  /** Returns when it can be worked in, its set-up done. Throws `setup_failed` when that failed; the workspace is there nevertheless. */
  async create(request: CreateRequest, actor: Principal): Promise<WorkspaceRecord> {
    return (await this.#create(request, actor)).record;
  }

  /** As `create`, and what the new one is like. */
  async createAndView(request: CreateRequest, actor: Principal): Promise<Workspace> {
    const { record, copied } = await this.#create(request, actor);
    return this.view(record, record.setup === null ? copied : undefined);
  }

  /** What an earlier daemon has made for a session of theirs, and did not live to start that in it. */
  madeFor(session: SessionId, owner: Principal): WorkspaceRecord | undefined {
    const made = this.queries.get(session as string as WorkspaceId);
    if (made?.owner !== owner || made.removedAt !== null) return undefined;
    return made.setup === null || made.setup.state === "done" ? made : undefined;
  }

  #newId({ session }: CreateRequest): WorkspaceId {
    const wanted = session as string | undefined as WorkspaceId | undefined;
    const isFree = wanted !== undefined && !existsSync(this.directoryOf(wanted)) && this.queries.get(wanted) === undefined;
    return isFree ? wanted : newWorkspaceId();
  }

  /** Throws what `create` would be refused for, and makes nothing. `branch`: which it would be on. */
  async check(request: CreateRequest): Promise<{ repository: string | null; branch: string | null }> {
    const name = this.#freeName(request.name);
    const { repository, project } = await this.checkTrust(request);
    if (repository) return { repository: repository.path, branch: (await beginningOf(request, { name, repository, project })).branch };
    this.#plainPath(request);
    return { repository: null, branch: null };
  }

  /** The project as it was checked: nothing of it is read again before it is done. */
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
      // Of a large repository each takes a while, and none needs another.
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
      // The journal has it: a full disk must not take away what is recorded.
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

  /** With what git says of each now. */
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

  /** `only`: nothing else in it can have changed. */
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

  /** What its sessions and its set-up get to know of it. */
  environmentOf({ id, portBase, repo }: WorkspaceSpec): Record<string, string> {
    return { HOLDFAST_WORKSPACE: id, HOLDFAST_PORT_BASE: String(portBase), ...(repo === null ? {} : { HOLDFAST_REPO: repo }) };
  }

  /** What a command of a person's gets there. */
  commandEnvironment(spec: WorkspaceSpec, env: Environment): Record<string, string> {
    return { ...ownEnvironment(env), ...this.environmentOf(spec) };
  }

  /** Where a session begins that was asked for in `cwd`: the same place in the workspace, if it is there. */
  placeIn(record: WorkspaceRecord, from: { cwd: string; tree: string | null }): string {
    if (record.kind === "plain" || from.tree === null) return record.path;
    const below = relative(from.tree, from.cwd);
    const place = join(record.path, below);
    return below !== "" && !below.startsWith("..") && existsSync(place) ? place : record.path;
  }

  directoryOf(id: WorkspaceId): string {
    return join(this.#home.workspaces, id);
  }

  /** Nothing was done in it: it goes without a trace, as the session it was made for never began. */
  async discardNew(record: WorkspaceRecord, actor: Principal): Promise<void> {
    this.#journal.append({
      type: "workspace.removed",
      actor,
      session: null,
      data: { id: record.id, name: record.name, ref: null, why: "gone" },
    });
    await this.#takeAway(record);
  }

  /** At the start of a daemon: what the last one left half done. `restored`: the journal may have lost what it knew. */
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

/** What the worktree that is asked for would begin from; throws what it would be refused for. */
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

/** Its Working Context; what is in the way of it is only noted. */
function layOut(path: string, { context = true, about, copyOf, env }: CreateRequest, project: Project): string[] {
  const trouble = context && project.context ? tryContext(path, { about, copyOf: copyOf?.root, umask: umaskIn(path, env) }) : null;
  return trouble === null ? [] : [trouble];
}

/** What was committed stays so, and what was not is a change here too. */
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

/** Uncommitted changes stay where they are: whoever expects them in the new worktree should know. */
async function leftBehind({ tree }: Repository, base: string): Promise<string[]> {
  if (tree === null) return [];
  const { code, stdout } = await tryGit(tree, ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"]);
  const count = code === 0 ? stdout.split("\0").filter(Boolean).length : 0;
  return count === 0
    ? []
    : [`${counted(count, "uncommitted change")} of ${tree} ${count === 1 ? "is" : "are"} not in it: it starts from ${base}`];
}

/** Somebody has committed or left a file in one that was never finished. */
async function isUsed(spec: WorkspaceFile): Promise<boolean> {
  if (spec.kind === "plain" || !existsSync(spec.path)) return false;
  const head = await tryGit(spec.path, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  const files = await changedFiles(spec.path);
  // A checkout that was cut short lacks files: that is nobody's work.
  const isWork = files === undefined || files.some((file) => !/^(?: D|D |\?\? )/.test(file));
  return isWork || (head.code === 0 && spec.ownBranch && head.stdout.trim() !== spec.baseCommit);
}

/** A person's, without what belongs to their own session or terminal. */
function ownEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(HOLDFAST_|TMUX)/.test(entry[0]),
  );
  return Object.fromEntries(kept);
}
