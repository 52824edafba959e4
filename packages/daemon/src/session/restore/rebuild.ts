/**
 * Reconciles the sessions on disk with a restored journal. A session that the journal does not know is recreated from `spec.json` and the files of
 * its runs; unknown runs are added; a session whose files are gone was removed after the backup. The state of its last run is found afterwards, as on
 * every start.
 *
 * A run whose end is found only now is not restarted, whatever the session's policy: a stop request may be among the lost events. A missing run is
 * started again with one command, while an unwanted one costs money.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  attributesOf,
  Budget,
  checkGroup,
  type EventData,
  ForkedFrom,
  type HostName,
  hasEnded,
  lineOf,
  Principal,
  type RestoreReport,
  SessionId,
  withAbsent,
} from "@holdfast/contract";
import { describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { type Host, runMarker } from "../../host/host.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { PendingReport } from "../../journal/restore.ts";
import { removal } from "../../projection/removal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { Recording } from "../../record/recording.ts";
import { Times } from "../../record/times.ts";
import { readExitFile } from "../run/exit-file.ts";
import { readSpec, type Spec } from "../run/run-files.ts";
import { hasStopFile } from "../run/stop-file.ts";

/** The live runs that each host keeps; a host that cannot answer is missing. */
export type KeptRuns = ReadonlyMap<HostName, ReadonlySet<string>>;

export async function keptRuns(hosts: ReadonlyMap<HostName, Host>): Promise<KeptRuns> {
  const kept = new Map<HostName, ReadonlySet<string>>();
  for (const host of hosts.values()) {
    try {
      kept.set(host.name, new Set((await host.list()).filter(({ dead }) => !dead).map(runMarker)));
    } catch (error) {
      log(`cannot ask ${host.name} for its runs: ${describe(error)}`);
    }
  }
  return kept;
}

/** All changes and the report are one transaction: a crash before it repeats everything from the start. */
export function rebuildSessions(
  pending: PendingReport,
  rooms: { home: Home; journal: Journal; queries: SessionQueries; kept: KeptRuns; groups: readonly string[] },
): { drafts: Draft[]; report: RestoreReport } {
  const { home, journal, queries } = rooms;
  const known = new Map(queries.select({ all: true }).map((record) => [record.id, record]));
  const names = new Set([...known.values()].map(({ name }) => name));
  const sessions: RestoreReport["sessions"] = { rebuilt: [], removed: [], unreadable: [] };
  const drafts: Draft[] = [];
  const groups = new Set(rooms.groups);

  const created = (id: SessionId) => readSpec(home, id)?.createdAt ?? "";
  for (const id of sessionsOnDisk(home).sort((a, b) => created(a).localeCompare(created(b)))) {
    const record = known.get(id);
    if (record) {
      const later = laterRuns(home, record);
      drafts.push(...later, ...laterConversations(home, record));
      // A restore on request keeps the names, owners, budgets and groups of the older journal.
      if (pending.why !== "asked") {
        const spec = readSpec(home, id);
        drafts.push(...laterName(home, record, names), ...laterOwner(id, spec, record.owner), ...laterBudget(spec, record));
        drafts.push(...laterGroups(id, { spec, known: record.groups, groups }));
      }
      const run = Math.max(record.run, ...runNumbers(home, id));
      const isOpen = later.length > 0 || !hasEnded(record.status);
      const isOver = isOpen ? hasEndedMeanwhile(rooms, { id, run, host: record.host }) : record.restartAt !== null;
      if (isOver && record.restart !== "never") drafts.push(noFurther(id, run));
    } else if ((hasRun(home, id) || readSpec(home, id)?.start === false) && !wasRemoved(journal, id)) {
      const spec = readSpec(home, id);
      const name = spec && (names.has(spec.name) ? `${spec.name}-${id}` : spec.name);
      if (spec && name !== undefined) {
        names.add(name);
        const data = rebuilt(home, { ...spec, name });
        drafts.push({ type: "session.rebuilt", actor: DAEMON, session: id, data }, ...laterOwner(id, spec, spec.handover?.from));
        drafts.push(...laterGroups(id, { spec, known: [], groups }));
        const run = data.runs.length;
        if (data.restart !== "never" && hasEndedMeanwhile(rooms, { id, run, host: spec.host })) drafts.push(noFurther(id, run));
        sessions.rebuilt.push({ id, name });
      } else sessions.unreadable.push(id);
    }
    known.delete(id);
  }
  for (const record of known.values()) {
    const { id, name } = record;
    drafts.push(...removal(queries, record, { actor: DAEMON }));
    sessions.removed.push({ id, name });
  }
  const report = { ...pending, sessions };
  return { drafts: [...drafts, { type: "journal.restored", actor: DAEMON, session: null, data: report }], report };
}

function hasEndedMeanwhile({ home, kept }: { home: Home; kept: KeptRuns }, last: { id: SessionId; run: number; host: HostName }): boolean {
  const { id, run, host } = last;
  return readExitFile(runDirectory(home, id, run)) !== undefined || kept.get(host)?.has(runMarker({ session: id, run })) === false;
}

function noFurther(session: SessionId, run: number): Draft {
  return { type: "session.restart_abandoned", actor: DAEMON, session, data: { why: "restored", quickEnds: 0, run } };
}

function sessionsOnDisk(home: Home): SessionId[] {
  return readdirSync(home.sessions).filter(isSessionId);
}

/** True if a journal that does not know the session would get it back. A run has more than its first file only once the journal has recorded it. */
export function canRebuild(home: Home, name: string): boolean {
  return isSessionId(name) && hasRun(home, name) && readSpec(home, name) !== undefined;
}

export function isSessionId(name: string): name is SessionId {
  return SessionId.safeParse(name).success;
}

function wasRemoved(journal: Journal, id: SessionId): boolean {
  return journal.readAfter(0, 1, { session: id, types: ["session.removed"] }).length > 0;
}

/** The attributes in a session's file, which may be damaged. */
export function recordedOf(spec: Spec) {
  const { budget, report, ...attributes } = withAbsent(attributesOf(spec));
  return { ...attributes, ...(Budget.safeParse(budget).data ? { budget } : {}), ...(report ? { report } : {}) };
}

function rebuilt(home: Home, spec: Spec): EventData<"session.rebuilt"> {
  const { id } = spec;
  const isOnlyCreated = spec.start === false && !hasRun(home, id);
  const runs = (isOnlyCreated ? [] : runNumbers(home, id)).map((run) => ({ run, ...runOf(home, id, run) }));
  return {
    ...recordedOf(spec),
    conversation: spec.conversation ?? null,
    ...(spec.conversations ? { conversations: spec.conversations } : {}),
    workspace: spec.workspace?.id ?? null,
    forkedFrom: ForkedFrom.safeParse(spec.forkedFrom).data ?? null,
    owner: Principal.safeParse(spec.owner).data ?? DAEMON,
    createdAt: spec.createdAt ?? new Date(statSync(join(home.sessions, id, "spec.json")).mtimeMs).toISOString(),
    // The last run stays open: whether it lives, and how it ended, is found as on every start.
    runs: runs.map((run, index) => (index === runs.length - 1 ? { ...run, exit: null, endedAt: null, bytes: null } : endOf(home, id, run))),
  };
}

/** `spec.json` has the latest name, even if the event of the renaming is lost. */
function laterName(home: Home, record: SessionRecord, names: Set<string>): Draft[] {
  const name = readSpec(home, record.id)?.name ?? record.name;
  if (names.has(name)) return [];
  names.add(name);
  return [{ type: "session.renamed", actor: DAEMON, session: record.id, data: { from: record.name, name } }];
}

/** The session was handed over after the backup. */
function laterOwner(session: SessionId, spec: Spec | undefined, owner: string | undefined): Draft[] {
  const [to, from] = [Principal.safeParse(spec?.owner).data, Principal.safeParse(owner).data];
  if (to === undefined || from === undefined || to === from) return [];
  const { by, note } = spec?.handover ?? {};
  const data = { from, to, note: typeof note === "string" ? note : null };
  return [{ type: "session.handed_over", actor: Principal.safeParse(by).data ?? DAEMON, session, data }];
}

/** The budget was changed after the backup. */
function laterBudget(spec: Spec | undefined, { id, budget }: SessionRecord): Draft[] {
  const later = Budget.safeParse(spec?.budget).data;
  if (!later || JSON.stringify(later) === JSON.stringify(budget)) return [];
  return [{ type: "budget.changed", actor: DAEMON, session: id, data: { budget: later } }];
}

/** Groups that it joined and left after the backup. `groups`: all existing groups, to which recreated ones are added. */
function laterGroups(
  id: SessionId,
  { spec, known, groups }: { spec: Spec | undefined; known: readonly string[]; groups: Set<string> },
): Draft[] {
  const later = Array.isArray(spec?.groups) ? spec.groups.filter(isGroup) : known;
  const joined = later.filter((path) => !known.includes(path));
  const missing = joined.flatMap((path) => lineOf(path).reverse()).filter((path) => !groups.has(path) && groups.add(path));
  return [
    ...missing.map((group): Draft => ({ type: "group.created", actor: DAEMON, session: null, data: { group, limit: null } })),
    ...joined.map((group): Draft => ({ type: "group.joined", actor: DAEMON, session: id, data: { group } })),
    ...known
      .filter((path) => !later.includes(path))
      .map((group): Draft => ({ type: "group.left", actor: DAEMON, session: id, data: { group } })),
  ];
}

function isGroup(path: unknown): path is string {
  try {
    return typeof path === "string" && checkGroup(path) === path;
  } catch {
    return false;
  }
}

/** Conversations since the backup; the last one is the current one. */
function laterConversations(home: Home, record: SessionRecord): Draft[] {
  const { conversation, conversations = [] } = readSpec(home, record.id) ?? {};
  if (!conversation || !Array.isArray(conversations) || conversation === record.conversation) return [];
  const run = Math.max(record.run, ...runNumbers(home, record.id).filter((each) => hasBegun(home, record.id, each)));
  const unknown = conversations.filter((id) => id !== conversation && !record.conversations.some((known) => known.id === id));
  return [...unknown, conversation].map((id): Draft => {
    return { type: "session.conversation_changed", actor: DAEMON, session: record.id, data: { run, conversation: id } };
  });
}

/** Runs that began after the backup: each one ends the run before it. */
function laterRuns(home: Home, record: SessionRecord): Draft[] {
  const session = record.id;
  const later = runNumbers(home, session).filter((run) => run > record.run && hasBegun(home, session, run));
  const { host = record.host } = readSpec(home, session) ?? {};
  return later.flatMap((run, index): Draft[] => {
    const previous = later[index - 1] ?? record.run;
    // An adopted session is on a host of ours from its second run on.
    const moved = index === 0 && host !== record.host ? { host } : {};
    const created: Draft = { type: "session.run_created", actor: DAEMON, session, data: { run, why: "restart", ...moved } };
    return index === 0 && hasEnded(record.status) ? [created] : [ended(home, session, previous), created];
  });
}

function ended(home: Home, session: SessionId, run: number): Draft {
  const { exit, endedAt, bytes, stopped } = endOf(home, session, { run, ...runOf(home, session, run) });
  const cause = stopped ? "stopped" : exit === null ? "lost" : "exited";
  return { type: "session.ended", actor: DAEMON, session, data: { run, exit, cause, endedAt, lastActivityAt: null, bytes } };
}

type RebuiltRun = EventData<"session.rebuilt">["runs"][number];

/** A run that another one followed has ended, even if no file says how. */
function endOf(home: Home, session: SessionId, run: RebuiltRun): RebuiltRun & { endedAt: string } {
  const activity = new Recording(runDirectory(home, session, run.run)).lastActivity();
  return { ...run, endedAt: run.endedAt ?? new Date(activity ?? Date.now()).toISOString() };
}

function runOf(home: Home, session: SessionId, run: number): Omit<RebuiltRun, "run"> {
  const directory = runDirectory(home, session, run);
  const recording = new Recording(directory);
  const exit = readExitFile(directory);
  const began = new Times(directory).read().find(({ at }) => at !== null)?.at;
  return {
    startedAt: began ? new Date(began).toISOString() : null,
    outputPath: hasBegun(home, session, run) ? (recording.segments()[0]?.path ?? join(directory, "output.000000")) : null,
    exit: exit?.exit ?? null,
    endedAt: exit ? new Date(exit.endedAt).toISOString() : null,
    bytes: recording.size(),
    stopped: hasStopFile(directory),
  };
}

function hasRun(home: Home, session: SessionId): boolean {
  return runNumbers(home, session).some((run) => hasBegun(home, session, run));
}

/** A directory with only `launch` belongs to an interrupted start that was never reported. */
function hasBegun(home: Home, session: SessionId, run: number): boolean {
  return filesOf(runDirectory(home, session, run)).some((name) => /^(times\.idx|exit\.json|output.*)$/.test(name));
}

/** Numbers without gaps from 1: a run counts even if its files were deleted. */
function runNumbers(home: Home, session: SessionId): number[] {
  const numbers = filesOf(join(home.sessions, session, "runs"))
    .map(Number)
    .filter(Number.isSafeInteger);
  const last = Math.max(1, ...numbers.filter((run) => run === 1 || hasBegun(home, session, run)));
  return Array.from({ length: last }, (_, index) => index + 1);
}

function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
