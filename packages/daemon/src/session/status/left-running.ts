/**
 * Finds processes that an agent left running without reporting them. Checks when a turn has ended, and then for as long as something runs: one timer
 * for all, and none while nothing runs.
 */
import { readlinkSync } from "node:fs";
import { type Evidence, type HostName, hasEnded, type SessionId } from "@holdfast/contract";
import { describe, isSameProcess, log, type ProcessInfo } from "@holdfast/platform";
import type { Profiles } from "../../agent/profiles/index.ts";
import { type Host, runMarker } from "../../host/host.ts";
import { membersOf, type ProcessScan, scanTogether } from "../../host/members.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import type { AgentStatus, StatusFollower } from "./agent-status.ts";

/** Time for the processes of an ended turn to exit. */
const AFTER_TURN_MS = 200;
const AGAIN_MS = 300;

/** Programs that keep the machine awake while the agent works. Qwen ends its own one some time after the turn. */
const KEEPS_AWAKE = "systemd-inhibit";

/** Programs that such a program only waits for. */
const WAITS = /^(sleep|tail|cat)$/;

export class LeftRunning implements Disposable {
  readonly #options: { status: AgentStatus; queries: SessionQueries; profiles: Profiles; hosts: ReadonlyMap<HostName, Host> };
  readonly #running = new Map<SessionId, readonly ProcessInfo[]>();
  readonly #ended = new Set<SessionId>();
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(options: { status: AgentStatus; queries: SessionQueries; profiles: Profiles; hosts: ReadonlyMap<HostName, Host> }) {
    this.#options = options;
  }

  begin(): void {
    for (const record of this.#options.queries.live()) if (record.standing?.turn === "idle") this.#watch(record);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  readonly follow: StatusFollower = ({ record, changed }) => {
    if (changed?.turn === "idle" && record.standing?.turn === "working") this.#watch(record);
    return [];
  };

  #watch(record: SessionRecord): void {
    if (!this.#options.profiles.find(record.agent)?.leavesUntold || record.kind === "conversation" || record.turns === 0) return;
    this.#ended.add(record.id);
    this.#arm(AFTER_TURN_MS);
  }

  #arm(inMs: number): void {
    if (this.#disposed) return;
    this.#timer ??= setTimeout(() => {
      this.#check()
        .catch((error: unknown) => log(`background processes of agents cannot be checked: ${describe(error)}`))
        .finally(() => {
          this.#timer = undefined;
          if (this.#ended.size > 0) this.#arm(AFTER_TURN_MS);
          else if (this.#running.size > 0) this.#arm(AGAIN_MS);
        });
    }, inMs).unref();
  }

  async #check(): Promise<void> {
    const { queries, hosts } = this.#options;
    const gone = [...this.#running].filter(([, processes]) => !processes.some(isThere)).map(([id]) => id);
    const asked = new Set([...gone, ...this.#ended]);
    this.#ended.clear();
    if (asked.size === 0) return;
    const scan = await scanTogether([...hosts.values()].flatMap((host) => host.keeperPids()));
    if (this.#disposed) return;
    for (const id of asked) {
      const record = queries.get(id);
      const left = record && !hasEnded(record.status) ? this.#leftBy(record, scan) : [];
      if (left.length > 0) this.#running.set(id, left);
      else this.#running.delete(id);
      if (record) this.#tell(record, left);
    }
  }

  /** Says nothing about an agent that never left a process: its screen shows work without a process. */
  #tell(record: SessionRecord, left: readonly ProcessInfo[]): void {
    const background = left.length > 0;
    const known = record.standing?.evidence.find(({ source }) => source === "processes")?.claim.background ?? false;
    if (background === known) return;
    const what = background ? left.map(({ pid, name }) => `${name} (${pid})`).join(", ") : "no background process is running";
    const evidence: Evidence = { source: "processes", at: new Date().toISOString(), claim: { background }, what };
    this.#options.status.learn({ session: record.id, run: record.run }, evidence);
  }

  /**
   * During a turn, the earlier processes. Excludes servers that the agent talks to (their input is a pipe or a socket), programs that draw for it
   * (their input is its terminal), its own helpers (they have its name), and what only keeps the machine awake.
   */
  #leftBy(record: SessionRecord, scan: ProcessScan): ProcessInfo[] {
    if (record.standing?.turn !== "idle") return (this.#running.get(record.id) ?? []).filter(isThere);
    const root = { pid: record.pid ?? 0, start: record.pidStart ?? "" };
    const marker = runMarker({ session: record.id, run: record.run });
    const terminal = inputOf(root.pid);
    if (terminal === undefined) return [];
    const members = membersOf(scan, { root, marker, treeOnly: record.host === "foreign" });
    const awake = new Set(members.filter(({ name }) => name === KEEPS_AWAKE).map(({ pid }) => pid));
    return members.filter(({ pid, parent, name }) => {
      if (awake.has(pid) || (awake.has(parent) && WAITS.test(name))) return false;
      const input = inputOf(pid);
      return input !== undefined && input !== terminal && !/^(pipe|socket|anon_inode):/.test(input) && !name.startsWith(record.agent);
    });
  }
}

function isThere({ pid, start }: ProcessInfo): boolean {
  return isSameProcess(pid, start);
}

function inputOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
}
