/**
 * Watches each live run through its directory, and brings it to its end once. The journal is compared with what the keepers really keep at start,
 * when a keeper vanishes, and every SWEEP_MS, with one question per host, never per run.
 *
 * A run is lost only if its host answered and does not have it. A host that cannot answer changes nothing.
 */
import { join } from "node:path";
import { type EndCause, type EventData, type HostName, hasEnded, type SessionId, unwritable } from "@holdfast/contract";
import { counted, describe, type Gap, type Home, inspect, log, msSince, runDirectory, stampMs, startStamp } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { type Host, type LiveRun, type RunId, runMarker } from "../../host/host.ts";
import { readPlace } from "../../host/place.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { Reserve } from "../../journal/reserve.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { Recording } from "../../record/recording.ts";
import { RunWatch } from "../../record/run-watch.ts";
import type { News } from "../../record/titles.ts";
import { type RecordedExit, readExitFile, writeExitFile } from "./exit-file.ts";
import { kernelMemoryKills } from "./out-of-memory.ts";
import { RecorderRepair } from "./recorder-repair.ts";
import { RecordingGaps } from "./recording-gaps.ts";
import { removeLaunch } from "./run-files.ts";
import { hasStopFile } from "./stop-file.ts";

/** Safety net for missed notifications of the kernel and the keepers; also finds a recorder that died. */
const SWEEP_MS = 5000;

/** Heavy output is cut all the time; the journal gets an event now and then, and at the end. */
const TELL_CUT_MS = 60_000;

/** Decides what follows a run's end: events for the same transaction, then action. */
export interface FollowUp {
  after(record: SessionRecord, end: EventData<"session.ended">): Draft[];
  arm(session: SessionId): void;
  /** True if a run that is starting in the journal, but does not exist, should be started now. */
  isDue(record: SessionRecord): boolean;
}

/** Observes live runs. `ended` is called before the end is written. */
export interface RunObserver {
  began(run: RunId): void;
  wrote(run: RunId, news?: (words?: RegExp) => News): void;
  /** Called now and then, for missed notifications. */
  look(run: RunId): void;
  ended(run: RunId): void;
}

export class Lifecycle implements Disposable {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #reserve: Reserve;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #watches = new Map<string, RunWatch>();
  readonly #ending = new Map<string, Promise<void>>();
  readonly #gaps: RecordingGaps;
  readonly #recorders: RecorderRepair;
  readonly #cutsTold = new Map<string, number>();
  readonly #recordingLimit: number;
  /** Runs whose failed watch has been logged. */
  readonly #unwatched = new Set<string>();
  /** Exits that the keeper could not write, with the time when they were seen. */
  readonly #unwrittenExits = new Map<string, RecordedExit>();
  readonly #starting = new Map<SessionId, Promise<void>>();
  readonly #cutShort = new Set<SessionId>();
  #reconciling: Promise<void> | undefined;
  #again = false;
  #followUp: FollowUp | undefined;
  #observer: RunObserver | undefined;
  /** The kernel's count when this daemon began to watch a run: a SIGKILL with a higher count came from the kernel. */
  readonly #memoryKills = new Map<SessionId, number | undefined>();
  #timer: NodeJS.Timeout | undefined;

  /** `recordingLimit`: bytes, for sessions without a limit of their own; 0 keeps everything. */
  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    reserve: Reserve;
    hosts: ReadonlyMap<HostName, Host>;
    recordingLimit?: number;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#reserve = options.reserve;
    this.#gaps = new RecordingGaps(options);
    this.#recorders = new RecorderRepair(options.reserve);
    this.#hosts = options.hosts;
    this.#recordingLimit = options.recordingLimit ?? 0;
  }

  followWith(followUp: FollowUp): void {
    this.#followUp = followUp;
  }

  observeWith(observer: RunObserver): void {
    this.#observer = observer;
  }

  /** Updates the record with what happened while no daemon ran, and keeps it current. */
  async begin(): Promise<void> {
    for (const host of this.#hosts.values()) host.onLost(() => void this.reconcile());
    this.#reserve.hold();
    for (const record of this.#queries.live()) {
      if (record.status === "starting" && this.#followUp?.isDue(record)) this.#cutShort.add(record.id);
    }
    await this.reconcile();
    this.#timer = setInterval(() => void this.#sweep(), SWEEP_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const watch of this.#watches.values()) watch[Symbol.dispose]();
    this.#watches.clear();
  }

  /** The gaps of any run, ended or not. */
  gapsOf(run: RunId): Gap[] {
    return this.#gaps.all(run);
  }

  watchOf(run: RunId): RunWatch | undefined {
    return this.#watches.get(runMarker(run));
  }

  /** While `start` runs, the run is not compared with its host: it may or may not exist yet. */
  starting(run: RunId, start: () => Promise<{ pid: number; since?: number }>): Promise<void> {
    this.#cutShort.delete(run.session);
    const started = start()
      .then(({ pid, since }) => this.#noteStart(run, pid, since))
      .finally(() => this.#starting.delete(run.session));
    this.#starting.set(run.session, started);
    return started.then(() => this.#tryToWatch(run));
  }

  /** Sessions whose next run did not start because the daemon died; until `starting`, this does not count as an end. */
  get cutShort(): readonly SessionId[] {
    return [...this.#cutShort];
  }

  isCutShort(record: SessionRecord): boolean {
    return this.#cutShort.has(record.id) && record.status === "starting" && !record.stopRequested;
  }

  /** Gives up a start: the next look finds that nothing runs. */
  giveUpStart(session: SessionId): void {
    this.#cutShort.delete(session);
  }

  /** Resolves when no start of the session is under way. */
  async startDone(session: SessionId): Promise<void> {
    await this.#starting.get(session)?.catch(() => {});
  }

  /** Writes the end and its consequences in one transaction. */
  recordEnd(record: SessionRecord, data: EventData<"session.ended">, before: Draft[] = []): void {
    const ended = { type: "session.ended", actor: DAEMON, session: record.id, data } as const;
    const gaps = this.#gaps.untold({ session: record.id, run: data.run });
    const events = [...before, ...gaps, ended, ...(this.#followUp?.after(record, data) ?? [])];
    this.#reserve.spend(() => this.#journal.append(...events));
    this.#followUp?.arm(record.id);
  }

  /** Releases an adopted run, which keeps running; `foreign.json` marks this as intended. */
  letGo(run: RunId): Promise<void> {
    return this.#end(run, { lost: true });
  }

  reconcile(): Promise<void> {
    if (this.#reconciling) {
      this.#again = true;
      return this.#reconciling;
    }
    this.#reconciling = this.#reconcileUntilCalm().finally(() => {
      this.#reconciling = undefined;
    });
    return this.#reconciling;
  }

  /** Resolves when the session has ended in the journal; false on timeout. */
  async ended(session: SessionId, timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const { seq } = this.#journal.cursor;
      const record = this.#queries.get(session);
      if (!record || hasEnded(record.status)) return true;
      if (signal.aborted) return false;
      await this.#journal.changed(seq, signal);
    }
  }

  /** Retries what a full disk prevented. */
  #sweep(): Promise<void> {
    try {
      this.#reserve.hold();
      this.#journal.settle();
      this.#gaps.tellAgain();
    } catch (error) {
      log(`facts could not be saved yet: ${describe(error)}`);
    }
    for (const watch of this.#watches.values()) watch.look();
    return this.reconcile();
  }

  async #reconcileUntilCalm(): Promise<void> {
    do {
      this.#again = false;
      const busy = new Set(this.#starting.keys());
      const records = this.#queries.live().filter((record) => !busy.has(record.id));
      for (const host of this.#hosts.values()) {
        const own = records.filter((record) => record.host === host.name);
        if (own.length > 0) await this.#compare(host, own);
      }
    } while (this.#again);
  }

  async #compare(host: Host, records: SessionRecord[]): Promise<void> {
    let kept: Map<string, LiveRun>;
    try {
      kept = new Map((await host.list()).map((live) => [runMarker(live), live]));
    } catch (error) {
      log(`cannot ask ${host.name} for its runs; ${counted(records.length, "session")} left as before: ${describe(error)}`);
      return;
    }
    // All at once: the end of a run waits for its recorder, and a hundred may have ended while no daemon ran.
    await Promise.all(
      records.map((record) => {
        const live = kept.get(runMarker({ session: record.id, run: record.run }));
        return this.#settle(host, record, live).catch((error: unknown) => log(`session ${record.id}: ${describe(error)}`));
      }),
    );
  }

  async #settle(host: Host, record: SessionRecord, live: LiveRun | undefined): Promise<void> {
    const run = { session: record.id, run: record.run };
    const exit = readExitFile(runDirectory(this.#home, run.session, run.run));
    // Includes a session that was rebuilt from its files: they do not contain its pid.
    const isNews = record.status === "starting" || (live !== undefined && record.pid === null);
    const pid = live?.pid ?? exit?.pid;
    if (isNews && pid !== undefined) this.#started(run, pid, { since: beganAt(pid, exit) });
    if (exit) return this.#end(run, { exit });
    if (live?.dead) return this.#end(run, { exit: this.#keepExit(run, live) });
    // Nothing has happened yet: the next run is still due.
    if (!live && this.isCutShort(record)) return;
    if (!live) return this.#end(run, { lost: true });
    this.#tryToWatch(run);
    this.#observer?.look(run);
    this.#tellCut(record);
    const { recording } = this.#watches.get(runMarker(run)) ?? {};
    // A run that is not recorded may have printed something all the same.
    if (!live.recording) this.#observer?.wrote(run);
    if (!live.recording && recording && (await this.#recorders.replace(host, run, recording))) this.#gaps.tell(run);
  }

  /** Saves an exit that the keeper has not written: once the keeper is removed, nobody else knows it. */
  #keepExit(run: RunId, live: LiveRun): RecordedExit {
    const marker = runMarker(run);
    const exit = this.#unwrittenExits.get(marker) ?? { exit: live.exit ?? { code: null, signal: null }, endedAt: Date.now() };
    this.#unwrittenExits.set(marker, exit);
    try {
      this.#reserve.spend(() => writeExitFile(runDirectory(this.#home, run.session, run.run), exit));
    } catch (error) {
      // If the directory is gone, the next start cannot read it either.
      if (unwritable(error)) throw error;
    }
    this.#unwrittenExits.delete(marker);
    return exit;
  }

  /** The program runs even if its start cannot be written: the next sweep finds it and tries again. */
  #noteStart(run: RunId, pid: number, since: number | undefined): void {
    try {
      this.#started(run, pid, { since });
    } catch (error) {
      if (!unwritable(error)) throw error;
      log(`session ${run.session}: ${describe(error)}`);
    }
  }

  /** `since`: set if the start is found later than it happened. */
  #started(run: RunId, pid: number, { since }: { since?: number | undefined } = {}): void {
    const data = {
      run: run.run,
      pid,
      pidStart: inspect(pid)?.start ?? "",
      outputPath: join(runDirectory(this.#home, run.session, run.run), "output.000000"),
      ...(since === undefined ? {} : { startedAt: new Date(since).toISOString() }),
    };
    this.#journal.append({ type: "session.started", actor: DAEMON, session: run.session, data });
  }

  /** A run that cannot be watched (its directory cannot be read) still runs: sweeps see its end. */
  #tryToWatch(run: RunId): void {
    try {
      this.#watch(run);
    } catch (error) {
      const marker = runMarker(run);
      if (!this.#unwatched.has(marker)) log(`session ${run.session}: cannot watch run ${run.run}: ${describe(error)}`);
      this.#unwatched.add(marker);
    }
  }

  #watch(run: RunId): void {
    const marker = runMarker(run);
    if (this.#watches.has(marker)) return;
    const directory = runDirectory(this.#home, run.session, run.run);
    const onExit = () => {
      const exit = readExitFile(directory);
      if (exit) this.#end(run, { exit }).catch((error: unknown) => log(`session ${run.session}: ${describe(error)}`));
    };
    this.#memoryKills.set(run.session, kernelMemoryKills());
    const record = this.#queries.get(run.session);
    const limit = this.#limitOf(record);
    const onOutput = (watch: RunWatch) => this.#observer?.wrote(run, (words) => watch.news(words));
    const beforeCut = (paths: string[]) => record && this.#hosts.get(record.host)?.rememberFrom(run, paths);
    this.#watches.set(marker, new RunWatch({ directory, onExit, onGap: () => this.#gaps.tell(run), onOutput, limit, beforeCut }));
    this.#gaps.tell(run);
    this.#observer?.began(run);
  }

  #end(run: RunId, how: { exit: RecordedExit } | { lost: true }): Promise<void> {
    const marker = runMarker(run);
    const already = this.#ending.get(marker);
    if (already) return already;
    const ending = this.#bringToEnd(run, how).finally(() => this.#ending.delete(marker));
    this.#ending.set(marker, ending);
    return ending;
  }

  /** Removes the keeper first, which completes the recording, then writes the end. A crash between the two repeats both. */
  async #bringToEnd(run: RunId, how: { exit: RecordedExit } | { lost: true }): Promise<void> {
    const record = this.#queries.get(run.session);
    if (!record || hasEnded(record.status) || record.run !== run.run) return;
    const host = this.#hosts.get(record.host);
    const recorderEnd = await host?.recorderEnd(run);
    await host?.remove(run);
    const directory = runDirectory(this.#home, run.session, run.run);
    // A run that ended unwatched gets its last times now.
    this.#tryToWatch(run);
    // The last signals come before the end, so they may use the reserved disk space too.
    this.#reserve.spend(() => this.#observer?.ended(run));
    this.#watches.get(runMarker(run))?.[Symbol.dispose]();
    this.#watches.delete(runMarker(run));
    const recording = new Recording(directory);
    this.#recorders.noteAtEnd(run, recording, recorderEnd);
    const activity = recording.lastActivity();
    const data: EventData<"session.ended"> = {
      run: run.run,
      exit: "exit" in how && !isUnknown(record, how.exit) ? how.exit.exit : null,
      cause: this.#causeOf(this.#queries.get(run.session) ?? record, how),
      endedAt: new Date("exit" in how ? how.exit.endedAt : Date.now()).toISOString(),
      lastActivityAt: activity === null ? null : new Date(activity).toISOString(),
      bytes: recording.size(),
      durationMs: durationOf(record, how),
    };
    this.recordEnd(record, data, this.#cutOf(record, recording));
    this.#cutsTold.delete(runMarker(run));
    this.#unwatched.delete(runMarker(run));
    this.#gaps.forget(run);
    this.#memoryKills.delete(run.session);
    removeLaunch(this.#home, run);
  }

  #causeOf(record: SessionRecord, how: { exit: RecordedExit } | { lost: true }): EndCause {
    if (record.limitExceeded === "memory" || this.#journal.owes(record.id, "session.limit_exceeded")) return "out_of_memory";
    if (record.stopRequested || this.#journal.owes(record.id, "session.stop_requested")) return "stopped";
    // Also if the journal lost the stop request.
    if (hasStopFile(runDirectory(this.#home, record.id, record.run))) return "stopped";
    if (record.host === "foreign" && readPlace(runDirectory(this.#home, record.id, record.run))?.letGo) return "let_go";
    if (!("exit" in how)) return record.status === "starting" ? "not_started" : "lost";
    const before = this.#memoryKills.get(record.id);
    const killed = how.exit.exit.signal === "SIGKILL" && before !== undefined && (kernelMemoryKills() ?? 0) > before;
    return killed ? "out_of_memory" : "exited";
  }

  #limitOf(record: SessionRecord | undefined): number {
    return record?.recordingLimitBytes ?? this.#recordingLimit;
  }

  /** Checks what the watch has seen, without reading files. */
  #tellCut(record: SessionRecord): void {
    const marker = runMarker({ session: record.id, run: record.run });
    const watch = this.#watches.get(marker);
    if (!watch || watch.begins <= record.cutOffset || performance.now() < (this.#cutsTold.get(marker) ?? 0)) return;
    this.#cutsTold.set(marker, performance.now() + TELL_CUT_MS);
    this.#journal.append(...this.#cutOf(record, watch.recording));
  }

  /** Cuts that the files show and the journal does not. */
  #cutOf(record: SessionRecord, recording: Recording): Draft[] {
    const [first] = recording.segments();
    if (!first || first.offset <= record.cutOffset) return [];
    const { offset, path: outputPath } = first;
    const data = { run: record.run, offset, bytes: offset - record.cutOffset, limit: this.#limitOf(record), outputPath };
    return [{ type: "recording.cut", actor: DAEMON, session: record.id, data }];
  }
}

/** An adopted program does not report how it ended. */
function isUnknown({ host }: SessionRecord, { exit }: RecordedExit): boolean {
  return host === "foreign" && exit.code === null && exit.signal === null;
}

/** When a program began whose start nobody recorded, on the current clock. */
function beganAt(pid: number, exit: RecordedExit | undefined): number | undefined {
  const { endedAt, endedAfterBootMs: ended, beganAfterBootMs: began } = exit ?? {};
  if (endedAt !== undefined && ended !== undefined && began !== undefined && ended >= began) return endedAt - (ended - began);
  const since = msSince(startStamp(inspect(pid)?.start ?? null));
  return since === undefined || since < 0 ? endedAt : Date.now() - since;
}

/** Monotonic, from the keeper's report and the start of the process, if known; else by the time of day. Unknown for a run that vanished. */
function durationOf(record: SessionRecord, how: { exit: RecordedExit } | { lost: true }): number | null {
  if (!("exit" in how) || record.startedAt === null) return null;
  const started = how.exit.beganAfterBootMs ?? stampMs(startStamp(record.pidStart));
  const ended = how.exit.endedAfterBootMs;
  if (started !== undefined && ended !== undefined && ended >= started) return ended - started;
  return Math.max(0, Math.round(how.exit.endedAt - Date.parse(record.startedAt)));
}
