/**
 * Finds what runs under this home without a record: a run that a keeper keeps although the journal does not know it or says it has ended (a restored
 * backup, a removed session), or a process that outlived its run. Orphans are reported, and adopted or stopped only on request, never on a guess.
 */
import { join } from "node:path";
import { HoldfastError, type HostName, hasEnded, type Orphan, type Principal, type SessionId, sessionId } from "@holdfast/contract";
import { argumentsOf, counted, environmentValues, type Home, inspect, type ProcessInfo, runDirectory } from "@holdfast/platform";
import { type Ended, endProcesses } from "../../host/ending.ts";
import { type Host, parseRunMarker, type RunId, runMarker } from "../../host/host.ts";
import { scanProcesses } from "../../host/members.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { SessionQueries } from "../../projection/session-queries.ts";
import type { Lifecycle } from "../run/lifecycle.ts";
import { readSessionFiles } from "../run/run-files.ts";
import { removeStopFile } from "../run/stop-file.ts";
import { recordedOf } from "./rebuild.ts";

export class Orphans {
  readonly #home: Home;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #queries: SessionQueries;
  readonly #journal: Journal;
  readonly #lifecycle: Lifecycle;

  constructor(options: {
    home: Home;
    hosts: ReadonlyMap<HostName, Host>;
    queries: SessionQueries;
    journal: Journal;
    lifecycle: Lifecycle;
  }) {
    this.#home = options.home;
    this.#hosts = options.hosts;
    this.#queries = options.queries;
    this.#journal = options.journal;
    this.#lifecycle = options.lifecycle;
  }

  async list(): Promise<Orphan[]> {
    const kept = await this.#keptRuns();
    const runs = kept.filter((run) => !this.#isRecorded(run));
    const keptMarkers = new Set(kept.map(runMarker));
    return [...runs.map((run) => this.#orphanRun(run)), ...this.#strayProcesses(keptMarkers)];
  }

  /** Writes the record from the files on disk; the next look at the host finds the run and watches it. */
  async adopt(id: string, actor: Principal): Promise<SessionId> {
    const orphan = await this.#find(id);
    const run = parseRunMarker(orphan.id);
    if (!orphan.adoptable || !run) {
      throw new HoldfastError("orphan_not_adoptable", `${orphan.id} (${orphan.command}) cannot be adopted: ${orphan.why}`, {
        hint: `it keeps running; to end it: holdfast orphans stop ${orphan.id}`,
      });
    }
    const outputPath = join(runDirectory(this.#home, run.session, run.run), "output.000000");
    const data = { run: run.run, pid: orphan.pid, pidStart: inspect(orphan.pid)?.start ?? "", outputPath };
    removeStopFile(runDirectory(this.#home, run.session, run.run));
    const created = this.#queries.get(run.session) ? [] : [this.#creation(run, actor)];
    this.#journal.append(...created, { type: "session.adopted", actor, session: run.session, data });
    await this.#lifecycle.reconcile();
    return run.session;
  }

  async stop(id: string, { graceMs, actor }: { graceMs: number; actor: Principal }): Promise<{ orphan: Orphan; killed: Ended[] }> {
    const orphan = await this.#find(id);
    const { pid, command } = orphan;
    this.#journal.append({ type: "orphan.stop_requested", actor, session: null, data: { id: orphan.id, pid, command } });
    const run = orphan.session === null ? undefined : { session: sessionId(orphan.session), run: orphan.run ?? 0 };
    const keepers = [...this.#hosts.values()].flatMap((host) => host.keeperPids());
    const root = { pid: orphan.pid, start: inspect(orphan.pid)?.start ?? "" };
    const { ended, left } = await endProcesses({ root, marker: run ? runMarker(run) : "", keepers, graceMs });
    if (left.length > 0)
      throw new HoldfastError(
        "stop_incomplete",
        `${counted(left.length, "process", "processes")} of ${orphan.id} still alive after SIGKILL`,
      );
    if (orphan.kind === "run" && run) for (const host of this.#hosts.values()) await host.remove(run);
    return { orphan, killed: ended };
  }

  async #find(id: string): Promise<Orphan> {
    const orphans = await this.list();
    const orphan = orphans.find((each) => each.id === id);
    if (orphan) return orphan;
    throw new HoldfastError("orphan_not_found", `there is no orphan ${JSON.stringify(id)}`, {
      hint: "list orphans: holdfast orphans ls",
      candidates: orphans.map((each) => each.id),
    });
  }

  async #keptRuns(): Promise<(RunId & { pid: number })[]> {
    const kept: (RunId & { pid: number })[] = [];
    // An adopted agent belongs to its user, with or without a record.
    const ours = [...this.#hosts.values()].filter(({ name }) => name !== "foreign");
    for (const host of ours) kept.push(...(await host.list()).filter((run) => !run.dead));
    return kept;
  }

  #isRecorded(run: RunId): boolean {
    const record = this.#queries.get(run.session);
    return record !== undefined && record.run === run.run && !hasEnded(record.status);
  }

  #orphanRun(run: RunId & { pid: number }): Orphan {
    const known = this.#queries.get(run.session);
    return {
      id: runMarker(run),
      kind: "run",
      session: run.session,
      run: run.run,
      pid: run.pid,
      command: argumentsOf(run.pid).join(" ").trim(),
      ...this.#whyRun(run, known?.name),
    };
  }

  #whyRun(run: RunId, name: string | undefined): Pick<Orphan, "why" | "adoptable"> {
    if (name !== undefined) return { why: `the journal records that run ${run.run} of ${name} has ended`, adoptable: true };
    const adoptable = this.#hasFiles(run.session);
    const files = adoptable ? "" : ", and its session files are gone, so it cannot become a session again";
    return { why: `the journal has no record of it${files}`, adoptable };
  }

  #hasFiles(session: SessionId): boolean {
    try {
      readSessionFiles(this.#home, session);
      return true;
    } catch {
      return false;
    }
  }

  /** Processes that carry the marker of a run of this home which nobody keeps any more; the topmost of each. */
  #strayProcesses(kept: ReadonlySet<string>): Orphan[] {
    const scan = scanProcesses([...this.#hosts.values()].flatMap((host) => host.keeperPids()));
    const homes = environmentValues("HOLDFAST_HOME", scan.markers.keys());
    const isStray = (info: ProcessInfo) => {
      const marker = scan.markers.get(info.pid);
      const run = marker === undefined ? undefined : parseRunMarker(marker);
      return (
        marker !== undefined && run !== undefined && homes.get(info.pid) === this.#home.path && !kept.has(marker) && !this.#isRecorded(run)
      );
    };
    const stray = scan.candidates.filter(isStray);
    const pids = new Set(stray.map((info) => info.pid));
    return stray.filter((info) => !pids.has(info.parent)).map((info) => this.#orphanProcess(info, scan.markers.get(info.pid) ?? ""));
  }

  #orphanProcess(info: ProcessInfo, marker: string): Orphan {
    const run = parseRunMarker(marker);
    return {
      id: `pid-${info.pid}`,
      kind: "process",
      session: run?.session ?? null,
      run: run?.run ?? null,
      pid: info.pid,
      command: argumentsOf(info.pid).join(" ").trim() || info.name,
      why: "its run has ended, and its terminal has no keeper",
      adoptable: false,
    };
  }

  #creation(run: RunId, actor: Principal): Draft {
    const { spec } = readSessionFiles(this.#home, run.session);
    const name = this.#queries.byName(spec.name) ? `${spec.name}-${run.session}` : spec.name;
    return { type: "session.created", actor, session: run.session, data: { ...recordedOf(spec), name } };
  }
}
