/**
 * The conflict radar: finds live workspaces of a repository that would conflict with each other or with the current base. A workspace is live if it
 * is neither removed nor merged; new commits after a merge make it live again.
 *
 * Watches on refs notice commits, one set of watches per repository; the journal reports new and removed workspaces. Then git lists all tips, and
 * only new pairs of commits are compared. Differences from the table are appended for all workspaces in one transaction: so both sides of a pair
 * agree, nothing is reported twice, and a new daemon continues from the last report. A request for workspaces first waits for a look, so callers
 * see their latest commits.
 */
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DAEMON, unwritable, type WorkspaceId } from "@holdfast/contract";
import { describe, type Home, log } from "@holdfast/platform";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../../projection/workspaces.ts";
import { sweepScratch } from "../git/merge-scratch.ts";
import { scratchPlaces } from "./conflicts.ts";
import { type Findings, RepositoryRadar } from "./repository-radar.ts";
import type { StashTaken } from "./stashes.ts";

/** After this time, a list shows the last known results. */
const PATIENCE_MS = 3000;

/** Long enough: git's answers take milliseconds, and trial merges are aborted. */
const END_MS = 1000;

/** Events that change the workspaces to compare, or their content. */
const FOLLOWED = [
  ...["workspace.created", "workspace.rebuilt", "workspace.merged", "workspace.removed", "workspace.recovered"],
  // Uncommitted files are compared as in the last checkpoint.
  ...["checkpoint.created", "checkpoint.rewound"],
];

export class Radar implements AsyncDisposable {
  readonly #journal: Journal;
  readonly #queries: WorkspaceQueries;
  readonly #scratchName: string;
  readonly #onStashTaken: ((taken: StashTaken) => void) | undefined;
  readonly #repositories = new Map<string, RepositoryRadar>();
  readonly #ending = new AbortController();
  #swept: Promise<unknown> | undefined;
  #following: Promise<void> | undefined;

  constructor(options: {
    home: Pick<Home, "socketDirectory">;
    journal: Journal;
    queries: WorkspaceQueries;
    /** Lets the caller inform the agents. */
    onStashTaken?(taken: StashTaken): void;
  }) {
    this.#onStashTaken = options.onStashTaken;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#scratchName = `holdfast-merge-${basename(options.home.socketDirectory)}-`;
  }

  begin(): void {
    this.#swept = Promise.allSettled(scratchPlaces().map((place) => sweepScratch(place, this.#scratchName)));
    this.#following = this.#follow();
  }

  /** Checks the current commits, within the time limit. */
  async look(): Promise<void> {
    await this.#swept;
    this.#attend();
    const looks = Promise.allSettled([...this.#repositories.values()].map((repository) => repository.look()));
    await Promise.race([looks, delay(PATIENCE_MS, undefined, { ref: false, signal: this.#ending.signal }).catch(() => {})]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    const ends = [...this.#repositories.values()].map((repository) => repository[Symbol.asyncDispose]());
    // A git that hangs on its file system must not keep the daemon from exiting.
    await Promise.race([Promise.all([this.#following, ...ends]), delay(END_MS, undefined, { ref: false })]);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending;
    let { seq } = this.#journal.cursor;
    await this.#swept;
    this.#wakeAll();
    while (!signal.aborted) {
      await this.#journal.changed(seq, signal);
      const last = this.#journal.cursor.seq;
      if (!signal.aborted && this.#hasFollowed(seq)) this.#wakeAll();
      seq = last;
    }
  }

  #hasFollowed(seq: number): boolean {
    try {
      return this.#journal.readAfter(seq, 1, { types: FOLLOWED }).length > 0;
    } catch (error) {
      log(`the radar cannot read the journal: ${describe(error)}`);
      return true;
    }
  }

  #wakeAll(): void {
    try {
      for (const repository of this.#attend()) repository.wake();
    } catch (error) {
      log(`the radar cannot list the workspaces: ${describe(error)}`);
    }
  }

  /** Keeps one radar for every repository with workspaces, and no others. */
  #attend(): RepositoryRadar[] {
    const repos = new Set(this.#queries.list().flatMap(({ repo }) => (repo === null ? [] : [repo])));
    for (const [repo, radar] of this.#repositories) {
      if (repos.has(repo)) continue;
      this.#repositories.delete(repo);
      void radar[Symbol.asyncDispose]();
    }
    for (const repo of repos) {
      if (this.#repositories.has(repo) || this.#ending.signal.aborted) continue;
      const radar = new RepositoryRadar({
        repo,
        scratchName: this.#scratchName,
        workspaces: () => this.#queries.list().filter((record) => record.repo === repo),
        tell: (findings) => this.#tell(repo, findings),
        stashTaken: (taken) => this.#stashTaken(taken),
      });
      this.#repositories.set(repo, radar);
    }
    return [...this.#repositories.values()];
  }

  #stashTaken(taken: StashTaken): void {
    this.#journal.append({ type: "workspace.stash_taken", actor: DAEMON, session: null, data: taken });
    this.#onStashTaken?.(taken);
  }

  #tell(repo: string, findings: ReadonlyMap<WorkspaceId, Findings>): void {
    const there = this.#queries.list().filter((record) => record.repo === repo);
    const ids = new Set(there.map(({ id }) => id));
    const drafts = there.flatMap((record): Draft[] => {
      const found = findings.get(record.id);
      if (!found) return [];
      // The other workspace may have been removed during the check.
      const now = { ...found, conflicts: found.conflicts.filter(({ workspace }) => ids.has(workspace)) };
      if (isSaid(record, now)) return [];
      return [{ type: "workspace.conflicts_changed", actor: DAEMON, session: null, data: { id: record.id, ...now } }];
    });
    if (drafts.length === 0) return;
    try {
      this.#journal.append(...drafts);
    } catch (error) {
      // The table still has the last report, so the next look reports the change.
      if (!unwritable(error)) throw error;
      log(`conflicts in ${repo} could not be checked: ${describe(error)}`);
    }
  }
}

function isSaid(record: WorkspaceRecord, found: Findings): boolean {
  return JSON.stringify([record.conflicts, record.baseConflicts]) === JSON.stringify([found.conflicts, found.base]);
}
