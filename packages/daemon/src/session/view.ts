import { attributesOf, hasEnded, type Session, type Usage } from "@holdfast/contract";
import { msSince, startStamp } from "@holdfast/platform";
import { firstLineOf } from "../agent/glance.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import { limitedBy } from "./run/limits.ts";

/** Data of a live run that only the watching daemon has, not the journal. */
export interface Watched {
  lastActivity: number | null;
  begins: number;
  idleMs(): number | null;
}

/** A session as clients see it. Times of day are for people; durations are monotonic. */
export function viewOf(
  record: SessionRecord,
  options: {
    now: number;
    /** The known counts. */
    counted: Pick<Session, "turns" | "conversations">;
    watched: Watched | undefined;
    recordingLimit: number;
    usage?: Usage | undefined;
    spent?: Session["spent"] | undefined;
    spentWithChildren?: Session["spent"] | undefined;
    budget?: Session["budget"] | undefined;
  },
): Session {
  const { report: _, ...attributes } = attributesOf(record);
  const activity = options.watched?.lastActivity ?? null;
  const durationMs = durationOf(record, options.now);
  const limit = record.recordingLimitBytes ?? options.recordingLimit;
  return {
    id: record.id,
    ...attributes,
    firstPrompt: record.firstPrompt === null ? null : firstLineOf(record.firstPrompt),
    status: record.status,
    ...standingOf(record, options.now),
    ...options.counted,
    promptedRun: record.promptedRun,
    forkedFrom: record.forkedFrom,
    workspace: record.workspace,
    owner: record.owner,
    handover: record.handover,
    groups: record.groups,
    pid: record.pid,
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    durationMs,
    lastActivityAt: activity === null ? record.lastActivityAt : new Date(activity).toISOString(),
    idleMs: idleOf(options.watched, durationMs),
    outputPath: record.outputPath,
    exit: record.exit,
    cause: record.cause,
    runs: record.status === "created" ? 0 : record.run,
    restartAt: restartAt(record, options.now),
    restartGivenUp: record.endedAt === null ? null : record.restartGivenUp,
    usage: options.usage ?? null,
    spent: options.spent ?? null,
    spentWithChildren: options.spentWithChildren ?? null,
    budget: options.budget ?? null,
    memoryLimitBy: limitedBy(record),
    recordingLimitBytes: limit === 0 ? null : limit,
    recordingCutBytes: options.watched?.begins ?? record.cutOffset,
    viewedAt: record.viewedAt,
    failure: record.failure,
    attachments: hasEnded(record.status) ? [] : record.attachments,
  };
}

/** An ended session has no current turn or attention. */
function standingOf(
  record: SessionRecord,
  now: number,
): Pick<
  Session,
  "statusAt" | "statusForMs" | "turn" | "attention" | "background" | "hung" | "tasksCompleted" | "progress" | "conversation"
> {
  const { tasksCompleted, progress, conversation } = record;
  const known = hasEnded(record.status) ? null : record.standing;
  const statusAt = known ? record.statusAt : record.endedAt;
  const byClock = statusAt === null ? null : Math.max(0, now - Date.parse(statusAt));
  return {
    statusAt,
    statusForMs: known ? (msSince(known.sinceBoot) ?? byClock) : null,
    turn: known?.turn ?? null,
    attention: known?.attention ?? null,
    background: known?.background ?? null,
    hung: known?.hung ?? false,
    tasksCompleted,
    progress,
    conversation,
  };
}

/** Without a monotonic clock the duration is clamped: a clock that was set back must not make it negative. */
export function durationOf(record: SessionRecord, now: number): number | null {
  if (record.startedAt === null) return null;
  if (record.endedAt === null) return runningFor(record.pidStart) ?? Math.max(0, now - Date.parse(record.startedAt));
  return record.durationMs;
}

function runningFor(pidStart: string | null): number | undefined {
  const since = msSince(startStamp(pidStart));
  // In some containers the clock since boot differs from that of process starts.
  return since === undefined || since < -1000 ? undefined : Math.max(0, Math.round(since));
}

/** Never longer than the run: a clock that was set before this daemon started could make it so. */
function idleOf(watched: Watched | undefined, durationMs: number | null): number | null {
  const idle = watched?.idleMs() ?? null;
  return idle === null ? null : Math.round(Math.min(idle, durationMs ?? idle));
}

/** On the current clock, which may have been set since the restart was scheduled. */
function restartAt(record: SessionRecord, now: number): string | null {
  const since = msSince(record.restartDue);
  return record.restartAt === null || since === undefined ? record.restartAt : new Date(now - since).toISOString();
}
