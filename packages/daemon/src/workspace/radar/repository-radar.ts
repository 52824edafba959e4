/** The radar of one repository. Runs one look at a time, after a notice, a journal event or a request. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type EventData, HoldfastError, type WorkspaceId } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { WorkspaceRecord } from "../../projection/workspaces.ts";
import { lastKnown, listAllCheckpoints } from "../checkpoint/checkpoints.ts";
import { GitError, tryGit } from "../git/git.ts";
import type { Outcome, Pair } from "../git/merge-tree.ts";
import { findRepository, type Repository } from "../git/repository.ts";
import { askPairs } from "./conflicts.ts";
import { RefWatch } from "./ref-watch.ts";
import { lookAtStashes, STASH_FILE, type StashTaken } from "./stashes.ts";
import { filesOf, readTips, type Tip } from "./tips.ts";

/** Most files per pair in the journal. If two workspaces both reformatted everything, more names add nothing. */
const MOST_FILES = 200;

export type Findings = Pick<EventData<"workspace.conflicts_changed">, "conflicts" | "base">;

interface Live {
  id: WorkspaceId;
  commit: string;
  /** The commit with its uncommitted files, as in the last checkpoint; the commit itself if no checkpoint is based on it. */
  work: string;
  base: string | undefined;
}

export class RepositoryRadar implements AsyncDisposable {
  readonly #repo: string;
  readonly #scratchName: string;
  readonly #workspaces: () => WorkspaceRecord[];
  readonly #tell: (findings: ReadonlyMap<WorkspaceId, Findings>) => void;
  readonly #stashTaken: (taken: StashTaken) => void;
  readonly #ending = new AbortController();
  #repository: Repository | undefined;
  #watch: { common: string; refs: RefWatch } | undefined;
  #followed: ReadonlySet<string> = new Set();
  /** Refs of branches that agents created, as of the last look. */
  #branches: readonly string[] = [];
  /** Outcomes of the pairs in the last look. */
  #outcomes: ReadonlyMap<string, Outcome> = new Map();
  #contained: ReadonlyMap<string, boolean> = new Map();
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isAwake = false;
  #restUntil = 0;
  #failure: string | undefined;

  constructor(options: {
    repo: string;
    scratchName: string;
    /** Returns all workspaces that are not removed. */
    workspaces(): WorkspaceRecord[];
    tell(findings: ReadonlyMap<WorkspaceId, Findings>): void;
    stashTaken(taken: StashTaken): void;
  }) {
    this.#repo = options.repo;
    this.#scratchName = options.scratchName;
    this.#workspaces = options.workspaces;
    this.#tell = options.tell;
    this.#stashTaken = options.stashTaken;
  }

  /** Schedules a look. After a slow look, waits as long as it took. */
  wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    void (async () => {
      await this.#current;
      const rest = Math.max(0, this.#restUntil - performance.now());
      await delay(rest, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {});
      this.#isAwake = false;
      await this.look();
    })();
  }

  /** Resolves after a look that started after this call. */
  look(): Promise<void> {
    this.#next ??= (async () => {
      await this.#current;
      this.#next = undefined;
      this.#current = this.#carefully();
      await this.#current;
    })();
    return this.#next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    this.#watch?.refs[Symbol.dispose]();
    await this.#next;
    await this.#current;
  }

  /** Logs an error once, and again when it changes. */
  async #carefully(): Promise<void> {
    const began = performance.now();
    try {
      if (!this.#ending.signal.aborted) await this.#lookNow();
      this.#failure = undefined;
    } catch (error) {
      const failure = whyNot(error);
      if (failure !== this.#failure && !this.#ending.signal.aborted) log(`conflicts in ${this.#repo} cannot be checked: ${failure}`);
      this.#failure = failure;
      this.#repository = undefined;
    }
    const now = performance.now();
    this.#restUntil = now + (now - began);
  }

  async #lookNow(): Promise<void> {
    const repository = await this.#find();
    const workspaces = this.#workspaces();
    const files = [...filesOf(workspaces), STASH_FILE];
    // The watches are in place before anything is read, so no later change is missed.
    this.#follow([...files, ...this.#branches]);
    let tips = await readTips(repository, workspaces);
    if (this.#follow([...files, ...tips.files])) tips = await readTips(repository, workspaces);
    this.#branches = tips.files;
    await lookAtStashes(repository, workspaces, this.#stashTaken);
    const live = await this.#live(workspaces, { repository, tips: tips.of });
    await this.#ask(live, repository);
    const findings = new Map(workspaces.map(({ id }): [WorkspaceId, Findings] => [id, { conflicts: [], base: [] }]));
    for (const one of live) findings.set(one.id, this.#findingsOf(one, live));
    if (!this.#ending.signal.aborted) this.#tell(findings);
  }

  /** Finds the repository, or watches for it if it is gone. */
  async #find(): Promise<Repository> {
    if (this.#repository && this.#watch) {
      this.#watch.refs.look();
      return this.#repository;
    }
    const found = await findRepository(this.#repo).catch((error: unknown) => error as Error);
    // A repository found around the old path is a different one.
    const repository = found && !(found instanceof Error) && found.path === this.#repo ? found : undefined;
    const common = repository?.common ?? join(this.#repo, ".git");
    if (this.#watch?.common === common) this.#watch.refs.look();
    else {
      this.#watch?.refs[Symbol.dispose]();
      this.#watch = { common, refs: new RefWatch({ common, onNotice: () => this.wake() }) };
      this.#followed = new Set();
    }
    if (!repository) throw found instanceof Error ? found : new Error("there is no repository");
    this.#repository = repository;
    return repository;
  }

  /** Returns true if a file is newly watched. */
  #follow(files: readonly string[]): boolean {
    const isMore = files.some((file) => !this.#followed.has(file));
    const wanted = new Set(files);
    if (isMore || wanted.size !== this.#followed.size) this.#watch?.refs.follow(files);
    this.#followed = wanted;
    return isMore;
  }

  async #live(
    workspaces: readonly WorkspaceRecord[],
    { repository, tips }: { repository: Repository; tips: ReadonlyMap<WorkspaceId, Tip> },
  ): Promise<Live[]> {
    const live: Live[] = [];
    const checkpoints = await listAllCheckpoints(repository.common);
    const contained = new Map<string, boolean>();
    const isIn = async (commit: string, base: string) => {
      const pair = `${commit} ${base}`;
      const answer = this.#contained.get(pair) ?? (await contains(repository, { base, commit }));
      contained.set(pair, answer);
      return answer;
    };
    for (const workspace of workspaces) {
      const { commit, base } = tips.get(workspace.id) ?? {};
      if (commit === undefined || (await isMerged(workspace, { commit, base, isIn, repository }))) continue;
      const last = lastKnown(checkpoints.get(workspace.id)?.map((checkpoint) => ({ number: checkpoint.number, checkpoint })) ?? []);
      const work = last?.checkpoint.head === commit ? last.checkpoint.commit : commit;
      live.push({ id: workspace.id, commit, work, base });
    }
    this.#contained = contained;
    return live;
  }

  /** Compares only new pairs. */
  async #ask(live: readonly Live[], repository: Repository): Promise<void> {
    const pairs = new Map<string, Pair>();
    const add = (ours: string, theirs: string | undefined) => {
      if (theirs !== undefined && ours !== theirs) pairs.set(keyOf(ours, theirs), { ours, theirs });
    };
    for (const [index, { work, base }] of live.entries()) {
      add(work, base);
      for (const other of live.slice(index + 1)) add(work, other.work);
    }
    const unknown = [...pairs].filter(([key]) => !this.#outcomes.has(key));
    const question = { repository, scratchName: this.#scratchName, signal: this.#ending.signal };
    const told = unknown.length === 0 ? [] : await askPairs({ ...question, pairs: unknown.map(([, pair]) => pair) });
    const fresh = new Map(unknown.map(([key], index) => [key, told[index] ?? null]));
    this.#outcomes = new Map([...pairs.keys()].map((key) => [key, fresh.get(key) ?? this.#outcomes.get(key) ?? null]));
  }

  #findingsOf(one: Live, live: readonly Live[]): Findings {
    const conflicts = live
      .filter(({ id }) => id !== one.id)
      .map(({ id, work }) => ({ workspace: id, files: this.#files(one.work, work) }))
      .filter(({ files }) => files.length > 0);
    return { conflicts, base: this.#files(one.work, one.base) };
  }

  #files(ours: string, theirs: string | undefined): string[] {
    const files = theirs === undefined ? undefined : this.#outcomes.get(keyOf(ours, theirs));
    return files?.slice(0, MOST_FILES) ?? [];
  }
}

/** True if merged as recorded or wholly in the base, unless the merge was undone. */
async function isMerged(
  { mergedAt, mergedTip, mergedCommit }: WorkspaceRecord,
  now: Omit<Live, "id" | "work"> & { repository: Repository; isIn(commit: string, base: string): Promise<boolean> },
): Promise<boolean> {
  const { commit, base, isIn } = now;
  if (mergedAt === null) return false;
  if (base !== undefined && (await isIn(commit, base))) return true;
  if (commit !== mergedTip || mergedCommit === null) return commit === mergedTip;
  return (base !== undefined && (await isIn(mergedCommit, base))) || (await isHeld(now.repository, mergedCommit));
}

/** True if a branch contains the commit: it was merged into a branch other than its base. */
async function isHeld({ common }: Repository, commit: string): Promise<boolean> {
  const question = ["for-each-ref", "--count=1", `--contains=${commit}`, "refs/heads", "refs/remotes"];
  const { code, stdout } = await tryGit(common, question, { with: { GIT_DIR: common } });
  return code === 0 && stdout !== "";
}

/** Git's own errors are not defects of Holdfast and need no stack trace. */
function whyNot(error: unknown): string {
  if (error instanceof HoldfastError) return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  return error instanceof GitError ? error.message : describe(error);
}

function keyOf(ours: string, theirs: string): string {
  return ours < theirs ? `${ours} ${theirs}` : `${theirs} ${ours}`;
}

async function contains({ common }: Repository, { base, commit }: { base: string; commit: string }): Promise<boolean> {
  const { code } = await tryGit(common, ["merge-base", "--is-ancestor", commit, base], { with: { GIT_DIR: common } });
  return code === 0;
}
