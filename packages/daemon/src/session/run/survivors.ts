/**
 * Processes of a session that outlived their run: its program, if the keeper was lost and the program ignored the hang-up, and background processes.
 * They are identified by the marker in their environment, for any run of the session; the program also by its recorded pid. A process of another
 * home, such as the original of a copied home, never counts.
 */
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, type HostName, type LeftProcess, type SessionId } from "@holdfast/contract";
import { argumentsOf, counted, environmentValues, type Home, inspect, isSameProcess, type ProcessInfo } from "@holdfast/platform";
import { type Ended, endProcesses } from "../../host/ending.ts";
import type { Host } from "../../host/host.ts";
import { membersOf, type ProcessScan, scanProcesses } from "../../host/members.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";

/** A program that lost its terminal may need a moment to save its work before it exits. */
const ENDING_MS = 5000;
const LOOK_MS = 50;
const LONGEST_COMMAND = 200;

const NOBODY = { pid: 0, start: "" };

export class Survivors {
  readonly #home: Home;
  readonly #hosts: ReadonlyMap<HostName, Host>;

  constructor(options: { home: Home; hosts: ReadonlyMap<HostName, Host> }) {
    this.#home = options.home;
    this.#hosts = options.hosts;
  }

  /** For an ended session; each call looks at all processes of the machine. */
  list(record: SessionRecord): LeftProcess[] {
    return this.among([record]).get(record.id) ?? [];
  }

  /** The sessions that left processes, from one look. */
  among(records: readonly SessionRecord[]): Map<SessionId, LeftProcess[]> {
    const found = new Map<SessionId, LeftProcess[]>();
    const started = records.filter(({ startedAt }) => startedAt !== null);
    if (started.length === 0) return found;
    const scan = scanProcesses(this.#keepers());
    for (const record of started) {
      const left = this.#members(record, scan).map((info) => leftProcess(info, record));
      if (left.length > 0) found.set(record.id, left);
    }
    return found;
  }

  /** True if a process belongs to any run of the session. */
  isOf(record: Pick<SessionRecord, "id">): (info: ProcessInfo, scan: ProcessScan) => boolean {
    const prefix = `${record.id}-`;
    return (info, scan) => Boolean(scan.markers.get(info.pid)?.startsWith(prefix)) && this.#isHere(info.pid);
  }

  /** Throws `stop_incomplete` if a process survives SIGKILL. */
  async end(record: SessionRecord, { graceMs }: { graceMs: number }): Promise<Ended[]> {
    const { ended, left } = await endProcesses({
      root: this.#program(record) ?? NOBODY,
      marker: "",
      isMember: this.isOf(record),
      keepers: this.#keepers(),
      graceMs,
    });
    if (left.length > 0) throw stillThere(record.name, left);
    const host = this.#hosts.get(record.host);
    if (host) await this.#removeKept(host, record.id);
    return ended;
  }

  /** Throws `session_running` if the program itself still runs: a second copy must not work beside it. */
  async refuse(record: SessionRecord): Promise<void> {
    const program = await this.#lasting(record);
    if (!program) return;
    throw new HoldfastError("session_running", `the program of ${record.name} is still running without its terminal (pid ${program.pid})`, {
      hint: `stop it first: holdfast stop ${record.name}`,
    });
  }

  /** For a policy that demands exactly one running program. */
  async endProgram(record: SessionRecord): Promise<void> {
    const root = await this.#lasting(record);
    if (root) await endProcesses({ root, marker: "", keepers: this.#keepers(), graceMs: ENDING_MS });
  }

  /** The program, if it does not end within a moment. */
  async #lasting(record: SessionRecord): Promise<{ pid: number; start: string } | undefined> {
    const deadline = performance.now() + ENDING_MS;
    for (;;) {
      const program = this.#program(record) ?? (await this.#kept(record));
      if (!program || performance.now() > deadline) return program;
      await delay(LOOK_MS);
    }
  }

  /** A run of the session that a keeper has and the journal does not, for example after restoring a backup. */
  async #kept({ id, host: name }: SessionRecord): Promise<{ pid: number; start: string } | undefined> {
    const runs =
      (await this.#hosts
        .get(name)
        ?.list()
        .catch(() => [])) ?? [];
    const kept = name === "foreign" ? undefined : runs.find(({ session, dead }) => session === id && !dead);
    const start = kept && inspect(kept.pid)?.start;
    return kept && start ? { pid: kept.pid, start } : undefined;
  }

  async #removeKept(host: Host, session: SessionId): Promise<void> {
    const kept = host.name === "foreign" ? [] : (await host.list()).filter((run) => run.session === session);
    for (const run of kept) await host.remove(run);
  }

  #members(record: SessionRecord, scan: ProcessScan): ProcessInfo[] {
    const root = this.#program(record) ?? NOBODY;
    return membersOf(scan, { root, marker: "", isMember: this.isOf(record) });
  }

  #program({ pid, pidStart }: SessionRecord): { pid: number; start: string } | undefined {
    if (pid === null || pidStart === null || pidStart === "") return undefined;
    return isSameProcess(pid, pidStart) && this.#isHere(pid) ? { pid, start: pidStart } : undefined;
  }

  #isHere(pid: number): boolean {
    return environmentValues("HOLDFAST_HOME", [pid]).get(pid) === this.#home.path;
  }

  #keepers(): number[] {
    return [...this.#hosts.values()].flatMap((host) => host.keeperPids());
  }
}

function leftProcess({ pid, name }: ProcessInfo, record: SessionRecord): LeftProcess {
  const command = argumentsOf(pid).join(" ").trim().slice(0, LONGEST_COMMAND) || name;
  return { pid, command, isProgram: pid === record.pid };
}

export function stillThere(name: string, left: readonly ProcessInfo[]): HoldfastError {
  const which = left.map(({ pid, name: program }) => `${pid} (${program})`).join(", ");
  return new HoldfastError(
    "stop_incomplete",
    `${counted(left.length, "process", "processes")} of ${name} still alive after SIGKILL: ${which}`,
    {
      hint: "they may wait for a device or a network file system; try again later",
    },
  );
}
