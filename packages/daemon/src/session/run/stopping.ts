/** Stops a session: writes the event, ends its processes, then waits until its keeper reports that they are gone. */
import { HoldfastError, hasEnded, isRunning, type Principal, type Session, type SessionId, type StopReply } from "@holdfast/contract";
import { describe, type Home, log, runDirectory, whyUnwritable } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { endProcesses } from "../../host/ending.ts";
import { type RunId, runMarker } from "../../host/host.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { Reserve } from "../../journal/reserve.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { isInteractiveShell } from "./interactive-shell.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Restarts } from "./restarts.ts";
import { notRunning, runningOne, runOf } from "./running.ts";
import { hasStopFile, writeStopFile } from "./stop-file.ts";
import { type Survivors, stillThere } from "./survivors.ts";

/** A keeper reports an end within milliseconds; after this time it is asked. */
const PROMPT_MS = 250;

/** How long a keeper takes to write the exit once disk space is back. */
const AGAIN_MS = 1000;

/** Longest time between a run's last process and its recorded end. */
const END_NOTICE_MS = 10_000;

/** Grace period for finishing an interrupted stop: how much was left is unknown. */
const FINISH_GRACE_MS = 5000;

type Stopped = Omit<StopReply, "tree">;

export class Stopping {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #lifecycle: Lifecycle;
  readonly #restarts: Restarts;
  readonly #reserve: Reserve;
  readonly #survivors: Survivors;
  readonly #keepers: () => number[];
  readonly #view: (record: SessionRecord) => Session;

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    lifecycle: Lifecycle;
    restarts: Restarts;
    reserve: Reserve;
    survivors: Survivors;
    keepers(): number[];
    view(record: SessionRecord): Session;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#lifecycle = options.lifecycle;
    this.#restarts = options.restarts;
    this.#reserve = options.reserve;
    this.#survivors = options.survivors;
    this.#keepers = options.keepers;
    this.#view = options.view;
  }

  /** Finishes stops that were interrupted by a daemon's death: frozen processes must not stay frozen, and requests are carried out. */
  finish(): void {
    for (const record of this.#queries.live()) {
      // A restored journal may have lost the request.
      if (!record.stopRequested && !hasStopFile(runDirectory(this.#home, record.id, record.run))) continue;
      this.stop(record.id, { graceMs: FINISH_GRACE_MS, actor: DAEMON }).catch((error: unknown) => {
        log(`session ${record.id}: the stop that was under way: ${describe(error)}`);
      });
    }
  }

  /**
   * Stops a session and all its descendants. The stop requests are one transaction: from then on none of them can start another session, and if the
   * daemon dies, the next one stops them all. Then each ends as with `stop`, all at once.
   */
  async tree(ref: string, options: { graceMs: number; actor: Principal }): Promise<StopReply> {
    const root = this.#queries.resolve(ref);
    const records = this.#queries.tree(root.id);
    const due = records.filter(({ restartAt }) => restartAt !== null);
    const running = records.filter(({ status }) => isRunning(status));
    const left = this.#survivors.among(records.filter(({ status }) => hasEnded(status)));
    if (due.length + running.length + left.size === 0) this.#refuseEnded(root);
    for (const record of due) this.#restarts.abandon(record, options.actor);
    this.#journal.note(...running.map((record) => stopRequest(record, options)));
    const outcomes = await Promise.allSettled(running.map(({ id }) => this.#endRequested(id, options)));
    const outlived = new Map<SessionId, Stopped["killed"]>();
    for (const record of records.filter(({ id }) => left.has(id))) outlived.set(record.id, await this.#endLeft(record, options));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    const killed = new Map(running.map(({ id }, index) => [id, killedBy(outcomes[index])]));
    const viewOf = ({ id }: SessionRecord) => ({
      session: this.#view(this.#queries.resolve(id)),
      killed: killed.get(id) ?? outlived.get(id) ?? [],
    });
    const isTold = ({ id }: SessionRecord) => killed.has(id) || outlived.has(id) || due.some((record) => record.id === id);
    const stopped = records.filter((record) => record.id !== root.id && isTold(record));
    return { ...viewOf(root), tree: stopped.map(viewOf) };
  }

  async stop(ref: string, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    const named = this.#queries.resolve(ref);
    if (named.restartAt !== null) {
      this.#restarts.abandon(named, options.actor);
      return { session: this.#view(this.#queries.resolve(named.id)), killed: [] };
    }
    // Without a pid there is nothing to end yet.
    await this.#lifecycle.startDone(named.id);
    if (hasEnded(named.status)) return this.#stopEnded(this.#queries.resolve(named.id), options);
    this.#journal.note(stopRequest(runningOne(this.#queries, named.id), options));
    return this.#end(named.id, options);
  }

  /** Stops processes that an ended session left behind. */
  async #stopEnded(record: SessionRecord, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    if (!hasEnded(record.status)) return this.stop(record.id, options);
    if (this.#survivors.list(record).length === 0) this.#refuseEnded(record);
    return { session: this.#view(record), killed: await this.#endLeft(record, options) };
  }

  async #endLeft(record: SessionRecord, { graceMs, actor }: { graceMs: number; actor: Principal }): Promise<Stopped["killed"]> {
    for (const { pid, command } of this.#survivors.list(record)) {
      this.#journal.note({ type: "orphan.stop_requested", actor, session: record.id, data: { id: `pid-${pid}`, pid, command } });
    }
    return this.#survivors.end(record, { graceMs });
  }

  /** Sessions that it started may still run. */
  #refuseEnded(record: SessionRecord): never {
    const running = this.#queries.tree(record.id).filter(({ id, status }) => id !== record.id && !hasEnded(status));
    if (running.length === 0) throw notRunning(record);
    const names = running.map(({ name }) => name).join(", ");
    throw new HoldfastError(
      "session_ended",
      `${record.name} has ended (${record.status}); sessions that it started are still running: ${names}`,
      {
        hint: `stop them: holdfast stop ${record.name} --tree`,
      },
    );
  }

  /** For a session with a stop request. One that ended on its own meanwhile counts as stopped. */
  async #endRequested(id: SessionId, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    await this.#lifecycle.startDone(id);
    const record = this.#queries.resolve(id);
    if (!hasEnded(record.status)) return this.#end(id, options);
    return { session: this.#view(record), killed: [] };
  }

  async #end(id: SessionId, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    const record = this.#queries.resolve(id);
    const run = runOf(record);
    this.#keepStop(run, options);
    const { ended, left } = await endProcesses({
      root: { pid: record.pid ?? 0, start: record.pidStart ?? "" },
      marker: runMarker(run),
      isMember: this.#survivors.isOf(record),
      keepers: this.#keepers(),
      treeOnly: record.host === "foreign",
      graceMs: options.graceMs,
      hangUp: isInteractiveShell(record.command),
    });
    if (left.length > 0) throw stillThere(record.name, left);
    if (!(await this.#lifecycle.ended(record.id, PROMPT_MS))) {
      await this.#lifecycle.reconcile();
      await this.#checkRoom(record);
      if (!(await this.#lifecycle.ended(record.id, END_NOTICE_MS))) {
        throw new HoldfastError("stop_incomplete", `the processes of ${record.name} are gone, but its keeper has not reported the end`, {
          hint: `see ${this.#home.log}`,
        });
      }
    }
    return { session: this.#view(this.#queries.resolve(record.id)), killed: ended };
  }

  /** A second copy of the stop request; the run is stopped even if this cannot be written. */
  #keepStop(run: RunId, by: { actor: Principal; graceMs: number }): void {
    try {
      const { actor, graceMs } = by;
      this.#reserve.spend(() => writeStopFile(runDirectory(this.#home, run.session, run.run), { actor, graceMs }));
    } catch (error) {
      log(`session ${run.session}: only the journal records that run ${run.run} was stopped: ${describe(error)}`);
    }
  }

  /** Without a recorded end, callers would wait forever, so report the failure now. */
  async #checkRoom(record: SessionRecord): Promise<void> {
    const trouble = whyUnwritable(this.#home.path);
    if (!trouble || (await this.#lifecycle.ended(record.id, 0))) return;
    // A keeper that could not write the exit retries on its own.
    if (this.#reserve.release() && (await this.#lifecycle.ended(record.id, AGAIN_MS))) return;
    throw new HoldfastError(trouble.code, `the processes of ${record.name} are gone, but ${trouble.message}`, {
      hint: "its end will be recorded as soon as that is possible again",
      cause: trouble,
    });
  }
}

function stopRequest({ id, run }: SessionRecord, { graceMs, actor }: { graceMs: number; actor: Principal }): Draft {
  return { type: "session.stop_requested", actor, session: id, data: { run, graceMs } };
}

function killedBy(outcome: PromiseSettledResult<Stopped> | undefined): Stopped["killed"] {
  return outcome?.status === "fulfilled" ? outcome.value.killed : [];
}
