/**
 * Restart policies: a run that ended on its own is followed by another, after a pause that doubles with each quick end. Too many quick ends in a row
 * stop the restarts. The journal holds when the next run is due, so a daemon that dies meanwhile changes nothing. The pause is monotonic: a
 * correction of the time neither skips it nor makes it a day.
 */
import {
  type ErrorCode,
  type EventData,
  type GivenUp,
  HoldfastError,
  type Principal,
  type SessionId,
  unwritable,
} from "@holdfast/contract";
import { bootStamp, describe, log, msSince } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";

/** A run shorter than this counts as a quick end: it achieved nothing. */
const QUICK_MS = 10_000;
const MOST_QUICK_ENDS = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Longest delay of a due run once disk space is back. */
const NO_ROOM_MS = 2000;
/** More than a session ever has: after each one a person has to start it again. */
const MOST_ABANDONED = 10_000;

/** Errors that another try would not change. */
const GIVES_UP: Readonly<Partial<Record<ErrorCode, GivenUp>>> = { session_damaged: "damaged", budget_spent: "budget" };

export class Restarts implements Disposable {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #start: (session: SessionId) => Promise<unknown>;
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();

  constructor(options: { journal: Journal; queries: SessionQueries; start(session: SessionId): Promise<unknown> }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#start = options.start;
  }

  /** Arms the restarts that were due when the last daemon ended, including those that it had begun. */
  begin(cutShort: readonly SessionId[]): void {
    for (const { id } of this.#queries.restarting()) this.arm(id);
    for (const id of cutShort) this.#wait(id, 0);
  }

  /** Excludes the first run of a session: its requester was told that it failed. */
  isDue(record: SessionRecord): boolean {
    return record.restart !== "never" && record.run > 1 && !record.stopRequested && !this.#wasAbandoned(record.id, record.run);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Consequences of a run's end, written in the same transaction, so that no crash comes between. */
  after(record: SessionRecord, end: EventData<"session.ended">): Draft[] {
    const failed = end.cause !== "exited" || end.exit?.code !== 0;
    if (end.cause === "stopped" || record.restart === "never" || (record.restart === "on-failure" && !failed)) return [];
    if (this.#wasAbandoned(record.id, end.run)) return [];
    const byClock = record.startedAt === null ? 0 : Date.parse(end.endedAt) - Date.parse(record.startedAt);
    const lasted = end.durationMs ?? byClock;
    const quickEnds = lasted < QUICK_MS ? 1 + this.#queries.quickEnds(record.id, { last: end.run - 1, ms: QUICK_MS }) : 0;
    if (quickEnds >= MOST_QUICK_ENDS) {
      return [{ type: "session.restart_abandoned", actor: DAEMON, session: record.id, data: { why: "crash_loop", quickEnds } }];
    }
    const pause = quickEnds === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (quickEnds - 1));
    const at = new Date(Date.now() + pause).toISOString();
    const data = { run: end.run + 1, at, quickEnds, due: bootStamp(pause) };
    return [{ type: "session.restart_scheduled", actor: DAEMON, session: record.id, data }];
  }

  /** Waits for the next run of a session, if one is due. */
  arm(session: SessionId): void {
    const record = this.#queries.get(session);
    if (!record?.restartAt) return;
    const since = msSince(record.restartDue) ?? Date.now() - Date.parse(record.restartAt);
    this.#wait(session, Math.min(LONGEST_PAUSE_MS, Math.max(0, -since)));
  }

  /** Cancels the restart on request. */
  abandon(record: SessionRecord, actor: Principal): void {
    const quickEnds = this.#queries.quickEnds(record.id, { last: record.run, ms: QUICK_MS });
    this.#journal.append({ type: "session.restart_abandoned", actor, session: record.id, data: { why: "stopped", quickEnds } });
    clearTimeout(this.#timers.get(record.id));
    this.#timers.delete(record.id);
  }

  /** True if the restart was cancelled before the run's end was found. */
  #wasAbandoned(session: SessionId, run: number): boolean {
    const abandoned = this.#journal.readAfter(0, MOST_ABANDONED, { session, types: ["session.restart_abandoned"] });
    return abandoned.some(({ data }) => data.run === run);
  }

  #wait(session: SessionId, ms: number): void {
    clearTimeout(this.#timers.get(session));
    const timer = setTimeout(() => void this.#due(session), ms).unref();
    this.#timers.set(session, timer);
  }

  async #due(session: SessionId): Promise<void> {
    this.#timers.delete(session);
    try {
      await this.#start(session);
    } catch (error) {
      log(`session ${session}: the next run did not start: ${describe(error)}`);
      // On a full disk the run stays due.
      if (unwritable(error)) return this.#wait(session, NO_ROOM_MS);
      const why = error instanceof HoldfastError ? GIVES_UP[error.code] : undefined;
      if (why) this.#journal.note({ type: "session.restart_abandoned", actor: DAEMON, session, data: { why, quickEnds: 0 } });
    }
  }
}
