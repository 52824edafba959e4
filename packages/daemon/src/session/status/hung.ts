/**
 * Finds working agents that show no progress for too long. Progress is a hook signal, a change of the screen apart from its moving parts, growth of
 * the agent's own files or of a conversation's transcript, or processor time of its tools. A spinner is not progress. An agent that prints nothing
 * may be computing: then its own processor time counts as well. One timer serves all agents; files and processes are checked only for those that were
 * quiet for half the time.
 */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import type { HostName, SessionId } from "@holdfast/contract";
import { type Home, msSince, type ProcessInfo, runDirectory, startStamp } from "@holdfast/platform";
import type { Profiles } from "../../agent/profiles/index.ts";
import { bytesOf, filesOf } from "../../agent/transcript.ts";
import { type Host, runMarker } from "../../host/host.ts";
import { membersOf, scanProcesses } from "../../host/members.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";
import { TRANSCRIPT_FILE } from "../../record/transcript.ts";
import type { Lifecycle } from "../run/lifecycle.ts";
import type { AgentStatus } from "./agent-status.ts";

/** Share of one core. A program that only runs its timers uses less. */
const STILL = 0.01;
/** The kernel counts processor time in steps of this size. */
const CPU_GRAIN_MS = 20;
const MOST_OFTEN_MS = 200;
const LEAST_OFTEN_MS = 30_000;
/** A process that began this shortly before its turn was reported belongs to the turn. */
const TOLD_LATE_MS = 2000;

/** The state of an agent that was quiet for half the time, when that was first seen. */
interface Quiet {
  at: number;
  cpu: Cpu;
  bytes: number;
}

interface Cpu {
  all: number;
  /** Processor time of its tools and their servers. */
  tools: number;
}

export class HungWatch implements Disposable {
  readonly #options: HungOptions;
  readonly #quiet = new Map<SessionId, Quiet>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HungOptions) {
    this.#options = options;
  }

  begin(): void {
    const { afterMs } = this.#options;
    if (afterMs === 0) return;
    const every = Math.min(LEAST_OFTEN_MS, Math.max(MOST_OFTEN_MS, afterMs / 10));
    this.#timer = setInterval(() => this.#check(), every).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const { status, hosts, afterMs } = this.#options;
    const quiet = status.working().filter(({ stillMs }) => stillMs >= afterMs / 2);
    const still = new Set(quiet.map(({ record }) => record.id));
    for (const id of this.#quiet.keys()) if (!still.has(id)) this.#quiet.delete(id);
    if (quiet.length === 0) return;
    const scan = scanProcesses([...hosts.values()].flatMap((host) => host.keeperPids()));
    for (const { record, stillMs, hung } of quiet) {
      const run = { session: record.id, run: record.run };
      const root = { pid: record.pid ?? 0, start: record.pidStart ?? "" };
      const members = membersOf(scan, { root, marker: runMarker(run), treeOnly: record.host === "foreign" });
      const now = { at: performance.now(), cpu: cpuOf(record, members), bytes: this.#bytes(record) };
      const before = this.#quiet.get(record.id);
      if (!before || this.#moved(record, before, now)) {
        this.#quiet.set(record.id, now);
        if (before && hung) status.markMoving(run);
      } else if (!hung && stillMs >= afterMs && now.at - before.at >= afterMs / 2) status.markHung(run);
    }
  }

  #moved(record: SessionRecord, before: Quiet, now: Quiet): boolean {
    if (now.bytes !== before.bytes) return true;
    const idleMs = this.#options.lifecycle.watchOf({ session: record.id, run: record.run })?.idleMs() ?? 0;
    // Drawing takes the agent's own processor time.
    const which = idleMs >= now.at - before.at ? "all" : "tools";
    return now.cpu[which] - before.cpu[which] > STILL * (now.at - before.at) + CPU_GRAIN_MS;
  }

  /** The size of what the agent, or the keeper of its conversation, has written. */
  #bytes({ id, run, kind, agent, conversation, cwd }: SessionRecord): number {
    const { home, profiles, envOf } = this.#options;
    if (kind === "conversation") return bytesOf([join(runDirectory(home, id, run), TRANSCRIPT_FILE)]);
    const profile = profiles.find(agent);
    const env = conversation === null ? undefined : envOf(id);
    if (!profile || !env || conversation === null) return 0;
    const of = { conversation, cwd, env };
    const files = [...(profile.transcript ? filesOf(profile.transcript, of) : []), ...(profile.usage?.places(of) ?? [])];
    return bytesOf(files.filter((file) => file.startsWith("/")));
  }
}

export interface HungOptions {
  home: Home;
  status: AgentStatus;
  lifecycle: Lifecycle;
  hosts: ReadonlyMap<HostName, Host>;
  profiles: Profiles;
  envOf(session: SessionId): Readonly<Record<string, string>> | undefined;
  /** 0: never. */
  afterMs: number;
}

function cpuOf(record: SessionRecord, members: readonly ProcessInfo[]): Cpu {
  const sum = (of: readonly ProcessInfo[]) => of.reduce((total, { cpuMs }) => total + cpuMs, 0);
  return { all: sum(members), tools: sum(members.filter((member) => isTool(record, member))) };
}

/** Processes that draw on the terminal existed before the turn: the agent and its launchers. */
function isTool({ pid, standing }: SessionRecord, member: ProcessInfo): boolean {
  if (member.pid === pid) return false;
  const turnFor = msSince(standing?.sinceBoot ?? null);
  const age = msSince(startStamp(member.start));
  const isNew = turnFor !== undefined && age !== undefined && age <= turnFor + TOLD_LATE_MS;
  return isNew || !readsTerminal(member.pid);
}

/** If its terminal cannot be read, an older process counts as the agent's own. */
function readsTerminal(pid: number): boolean {
  try {
    return /^\/dev\/(pts\/|tty)/.test(readlinkSync(`/proc/${pid}/fd/0`));
  } catch {
    return true;
  }
}
