/**
 * Several agents work on one prompt, each in its own worktree, all from one commit; they are compared, and one is kept.
 *
 * Each workspace names its tournament, in the journal and in its own file, so a tournament is found whatever else is lost. The request is in the
 * journal before the first entry starts, so repeating the same request starts the missing entries, after a failure or a daemon's death.
 * Keeping an entry merges it, records that, and then removes the others, each of which can be recovered; a repeated keep continues where it stopped.
 */
import {
  checkName,
  type EntryFailure,
  HoldfastError,
  hasEnded,
  type MergeRequest,
  newTournamentId,
  type Principal,
  type RemoveOutcome,
  type SessionId,
  type SpawnRequest,
  type Tournament,
  type TournamentEntry,
  type TournamentRequest,
} from "@holdfast/contract";
import type { KeyedMutex } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { TournamentQueries, TournamentRecord } from "../projection/tournaments.ts";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { readableName } from "../session/run/readable-name.ts";
import type { Sessions } from "../session/sessions.ts";
import { lastCheck } from "../workspace/check.ts";
import { statOf } from "../workspace/diff.ts";
import { isAncestor } from "../workspace/git/combine.ts";
import { findRepository } from "../workspace/git/repository.ts";
import { planBeginning } from "../workspace/git/worktree.ts";
import type { Merging } from "../workspace/merge/merging.ts";
import type { Removing } from "../workspace/removal/removing.ts";
import { readProject } from "../workspace/setup/project.ts";
import type { Workspaces } from "../workspace/workspaces.ts";

/** Concurrent worktrees and set-ups: each reads and writes a whole repository. */
const AT_ONCE = 3;

interface Entry {
  number: number;
  name: string;
  agent: string;
  workspace: WorkspaceRecord | undefined;
  session: SessionRecord | undefined;
}

export interface Kept {
  tournament: Tournament;
  merged: { into: string; commit: string; commits: number } | null;
  removed: RemoveOutcome[];
  notes: string[];
}

export class Tournaments {
  readonly #journal: Journal;
  readonly queries: TournamentQueries;
  readonly #sessionQueries: SessionQueries;
  readonly #sessions: Sessions;
  readonly #workspaces: Workspaces;
  readonly #merging: Merging;
  readonly #removing: Removing;
  readonly #mutex: KeyedMutex;

  constructor(options: {
    journal: Journal;
    queries: TournamentQueries;
    sessionQueries: SessionQueries;
    sessions: Sessions;
    workspaces: Workspaces;
    merging: Merging;
    removing: Removing;
    mutex: KeyedMutex;
  }) {
    this.#journal = options.journal;
    this.queries = options.queries;
    this.#sessionQueries = options.sessionQueries;
    this.#sessions = options.sessions;
    this.#workspaces = options.workspaces;
    this.#merging = options.merging;
    this.#removing = options.removing;
    this.#mutex = options.mutex;
  }

  /** Starts the missing entries; failed ones are reported, and the others work anyway. */
  start(
    request: TournamentRequest,
    by: { actor: Principal; parent: SessionId | null },
  ): Promise<{ tournament: Tournament; failures: EntryFailure[] }> {
    const name = checkName(request.name ?? readableName((taken) => this.#isTaken(taken, request.count)));
    return this.#mutex.run(`tournament ${name}`, async () => {
      await this.#workspaces.checkTrust(request);
      const record = this.#again(name, request, by) ?? (await this.#begin(name, request, by.actor));
      const missing = this.#entries(record).filter(({ session }) => session === undefined);
      const failures: EntryFailure[] = [];
      await atMost(AT_ONCE, missing, async (entry) => {
        try {
          await this.#startEntry(entry, record, { request, ...by });
        } catch (error) {
          const { code, message, hint } = HoldfastError.from(error);
          const { number, name: entryName, agent } = entry;
          failures.push({ number, name: entryName, agent, error: { code, message, ...(hint === undefined ? {} : { hint }) } });
        }
      });
      failures.sort((a, b) => a.number - b.number);
      return { tournament: await this.view(record), failures };
    });
  }

  /** Refuses everything that would fail for all entries, before anything is recorded. */
  async #begin(name: string, request: TournamentRequest, actor: Principal): Promise<TournamentRecord> {
    const agents = Array.from({ length: request.count }, (_, i) => request.agents[i % request.agents.length] ?? "");
    for (const [i, agent] of agents.entries()) this.#sessions.checkNew(spawnRequest(request, { agent, name: `${name}-${i + 1}` }));
    const repository = await findRepository(request.cwd, request.env);
    if (!repository)
      throw new HoldfastError(
        "repository_unusable",
        `${request.cwd} is not in a git repository, and each entry of a tournament needs a worktree`,
        {
          hint: "create one: git init && git add . && git commit -m 'Begin'",
        },
      );
    for (const [i] of agents.entries()) {
      const other = this.#workspaces.queries.byName(`${name}-${i + 1}`);
      if (other)
        throw new HoldfastError("name_taken", `a workspace named ${other.name} already exists`, {
          hint: `choose another name: --name NAME; or remove it: holdfast workspace rm ${other.name}`,
        });
    }
    const wanted = request.base ?? readProject(repository.tree).base ?? undefined;
    const { base, baseCommit } = await planBeginning(repository, { base: wanted, name, env: request.env });
    const id = newTournamentId();
    const data = { id, name, prompt: request.prompt, repo: repository.path, base, baseCommit, agents };
    this.#journal.append({ type: "tournament.started", actor, session: null, data });
    return this.queries.resolve(id);
  }

  /** The tournament of an earlier identical request, if it is still open. */
  #again(name: string, request: TournamentRequest, by: { actor: Principal; parent: SessionId | null }): TournamentRecord | undefined {
    const known = this.queries.byName(name);
    if (!known || known.kept !== null || this.#entries(known).every(({ workspace }) => workspace?.removedAt != null)) return undefined;
    const agents = known.agents.every((agent, i) => agent === request.agents[i % request.agents.length]);
    // A session continues only its own tournament: in another's it would learn of its entries and work in their worktrees.
    const isTheirs = by.parent === null || known.owner === by.actor;
    if (isTheirs && known.prompt === request.prompt && agents && known.agents.length === request.count) return known;
    const why = isTheirs ? ", with another prompt or other agents" : "";
    throw new HoldfastError("name_taken", `a tournament named ${name} already exists${why}`, {
      hint: `choose another name: --name NAME; or see its state: holdfast compare ${name}`,
    });
  }

  #isTaken(name: string, count: number): boolean {
    const names = Array.from({ length: count }, (_, i) => `${name}-${i + 1}`);
    return (
      this.queries.byName(name) !== undefined ||
      names.some((each) => this.#sessionQueries.byName(each) !== undefined || this.#workspaces.queries.byName(each) !== undefined)
    );
  }

  /** If a first attempt left a worktree behind, for example after a failed set-up, the entry starts there as it is. */
  async #startEntry(
    { number, name, agent, workspace }: Entry,
    { id, name: of, base, baseCommit }: TournamentRecord,
    { request, actor, parent }: { request: TournamentRequest; actor: Principal; parent: SessionId | null },
  ): Promise<void> {
    const isThere = workspace !== undefined && workspace.removedAt === null;
    const where = isThere ? { workspace: workspace.id } : { worktree: { base: base ?? undefined, setup: request.setup } };
    const tournament = { of: { id, name: of, number, agent }, at: baseCommit ?? base ?? "HEAD" };
    await this.#sessions.spawn({ ...spawnRequest(request, { agent, name }), ...where }, { actor, parent, tournament });
  }

  /** Finds a tournament by its name or id, by an entry's name, or by one of its sessions or workspaces. */
  find(ref: string, isKnown?: (record: TournamentRecord) => boolean): TournamentRecord {
    const workspace = this.#workspaceOf(ref);
    const entry = workspace?.tournament && this.queries.get(workspace.tournament.id);
    return this.queries.byName(ref) ?? entry ?? this.#byEntryName(ref) ?? this.queries.resolve(ref, isKnown);
  }

  #workspaceOf(ref: string): WorkspaceRecord | undefined {
    const { queries } = this.#workspaces;
    const lived = this.#sessionQueries.byName(ref)?.workspace;
    return queries.byName(ref) ?? (lived ? queries.get(lived.id) : undefined);
  }

  /** For an entry that was removed or never started. */
  #byEntryName(ref: string): TournamentRecord | undefined {
    const [, name = "", number = ""] = /^(.+)-(\d+)$/.exec(ref) ?? [];
    const record = this.queries.byName(name);
    return record && Number(number) <= record.agents.length ? record : undefined;
  }

  async view(record: TournamentRecord): Promise<Tournament> {
    const entries: TournamentEntry[] = [];
    await atMost(AT_ONCE, this.#entries(record), async (entry) => {
      entries.push(await this.#viewEntry(entry));
    });
    entries.sort((a, b) => a.number - b.number);
    return { ...this.summary(record), entries };
  }

  /** Oldest first; without `all`, only tournaments of which an entry can still be kept. */
  list({ all }: { all: boolean }): TournamentRecord[] {
    const isOpen = (record: TournamentRecord) => {
      const made = this.#workspaces.queries.ofTournament(record.id);
      return made.length === 0 || made.some(({ removedAt }) => removedAt === null);
    };
    return this.queries.list({ all }).filter((record) => all || isOpen(record));
  }

  summary(record: TournamentRecord): Omit<Tournament, "entries"> {
    const { agents: _, kept, ...rest } = record;
    const entry = this.#entries(record).find(({ workspace }) => workspace?.id === kept);
    return { ...rest, kept: kept === null ? null : (entry?.workspace?.name ?? kept) };
  }

  async #viewEntry({ number, name, agent, workspace, session }: Entry): Promise<TournamentEntry> {
    const [first] = session ? this.#sessions.list({ names: [session.id] }).sessions : [];
    const isThere = workspace !== undefined && workspace.removedAt === null;
    return {
      number,
      name: session?.name ?? workspace?.name ?? name,
      agent,
      session: first ?? null,
      workspace: workspace ? await this.#workspaces.view(workspace) : null,
      diff: isThere ? await statOf(workspace, sinceOf(workspace)).catch(() => null) : null,
      check: isThere ? lastCheck(this.#workspaces.directoryOf(workspace.id)) : null,
    };
  }

  #entries(record: TournamentRecord): Entry[] {
    const made = this.#workspaces.queries.ofTournament(record.id);
    return record.agents.map((agent, i) => {
      const own = made.filter(({ tournament }) => tournament?.number === i + 1);
      const workspace = own.find(({ removedAt }) => removedAt === null) ?? own.at(-1);
      const session = workspace && this.#sessionQueries.inWorkspace(workspace.id)[0];
      return { number: i + 1, name: `${record.name}-${i + 1}`, agent, workspace, session };
    });
  }

  keep(record: TournamentRecord, request: MergeRequest & { entry: string }, actor: Principal): Promise<Kept> {
    return this.#mutex.run(`tournament ${record.id}`, () => this.#keep(this.queries.resolve(record.id), request, actor));
  }

  async #keep(record: TournamentRecord, { entry: ref, ...request }: MergeRequest & { entry: string }, actor: Principal): Promise<Kept> {
    const entries = this.#entries(record);
    const chosen = entries.find(({ name, session, workspace }) =>
      [name, session?.name, session?.id, workspace?.name, workspace?.id].includes(ref),
    );
    if (!chosen?.workspace) throw notStarted(record, ref, entries);
    const { workspace } = chosen;
    const others = entries.filter((entry) => entry !== chosen);
    if (record.kept !== null && record.kept !== workspace.id) throw keptAlready(record, entries);
    const notes: string[] = [];
    let merged: Kept["merged"] = null;
    if (record.kept === null) {
      merged = (await this.#isMerged(workspace, request)) ? null : await this.#merge(workspace, { request, actor, notes });
      const data = { id: record.id, name: workspace.name, workspace: workspace.id };
      this.#journal.append({ type: "tournament.kept", actor, session: null, data });
    }
    const removed = await this.#tidy(others, { request, actor, notes });
    if (chosen.session && !hasEnded(chosen.session.status)) notes.push(`${chosen.session.name} is still running in a merged workspace`);
    return { tournament: await this.view(this.queries.resolve(record.id)), merged, removed, notes };
  }

  async #merge(
    workspace: WorkspaceRecord,
    { request, actor, notes }: { request: MergeRequest; actor: Principal; notes: string[] },
  ): Promise<NonNullable<Kept["merged"]>> {
    const { merged } = await this.#merging.merge(workspace, request, actor);
    notes.push(...merged.notes);
    return { into: merged.into, commit: merged.commit, commits: merged.commits };
  }

  /** True after a merge by `workspace merge`, by hand, or by an interrupted keep: the target has all commits, and none came since. */
  async #isMerged(workspace: WorkspaceRecord, { into, env }: Pick<MergeRequest, "into" | "env">): Promise<boolean> {
    const { removedAt, path, base, baseCommit, mergedTip, mergedCommit } = workspace;
    if (removedAt !== null || (await this.#workspaces.view(workspace)).dirty !== false) return false;
    const has = (older: string | null, newer: string | null) =>
      older === null || newer === null ? false : isAncestor(path, older, newer, { env });
    const target = `refs/heads/${into ?? base}`;
    // The base also contains an entry without any commits.
    if ((await has("HEAD", target)) && !(await has("HEAD", baseCommit))) return true;
    return (await has(mergedCommit, target)) && (await has("HEAD", mergedTip));
  }

  async #tidy(
    others: readonly Entry[],
    { request, actor, notes }: { request: MergeRequest; actor: Principal; notes: string[] },
  ): Promise<RemoveOutcome[]> {
    const removed: RemoveOutcome[] = [];
    for (const { workspace } of others) {
      if (!workspace || workspace.removedAt !== null) continue;
      try {
        const outcome = await this.#removing.remove(workspace, { force: true, why: "asked", actor, env: request.env });
        removed.push({ workspace: await this.#workspaces.get(workspace.id), dryRun: false, ...outcome });
      } catch (error) {
        // The other entries are removed anyway, and a repeated request tries this one again.
        const { message } = HoldfastError.from(error);
        notes.push(`${workspace.name} was not removed: ${message}`);
      }
    }
    return removed;
  }
}

/** A merged workspace is compared with its original base commit. */
function sinceOf({ mergedAt, baseCommit }: WorkspaceRecord): string | undefined {
  return mergedAt === null ? undefined : (baseCommit ?? undefined);
}

function spawnRequest(request: TournamentRequest, { agent, name }: { agent: string; name: string }): SpawnRequest {
  const { name: _, agents, count, base, setup, ...rest } = request;
  return { ...rest, agent, name };
}

/** Each item starts as soon as a previous one is done. */
async function atMost<T>(count: number, items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const work = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, work));
}

function notStarted(record: TournamentRecord, ref: string, entries: readonly Entry[]): HoldfastError {
  return new HoldfastError("tournament_not_found", `${record.name} has no started entry named ${JSON.stringify(ref)}`, {
    hint: `list its entries: holdfast compare ${record.name}`,
    candidates: entries.flatMap(({ workspace }) => workspace?.name ?? []),
  });
}

function keptAlready(record: TournamentRecord, entries: readonly Entry[]): HoldfastError {
  const kept = entries.find(({ workspace }) => workspace?.id === record.kept)?.workspace?.name ?? record.kept;
  return new HoldfastError("tournament_kept", `${kept} of ${record.name} was already kept`, {
    hint: "bring a removed entry back: holdfast workspace recover NAME; then merge it: holdfast workspace merge NAME",
  });
}
