/**
 * Finds agents that work and get nothing done for longer than they may. Progress is a word of a hook, a line on the screen beside its moving parts, more
 * in the agent's own files or in a conversation's transcript, and processor time of what it started. A spinner that turns is none. An agent that prints
 * nothing at all may compute itself: then its own processor time counts as well. One timer for all; files and processes are looked at only for those of
 * which nothing else was seen for half of the time.
 */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import type { HostName, SessionId } from "@holdfast/contract";
import { type Home, msSince, type ProcessInfo, runDirectory, startStamp } from "@holdfast/platform";
import type { Profiles } from "../agent/profiles/index.ts";
import { bytesOf, filesOf } from "../agent/transcript.ts";
import { type Host, runMarker } from "../host/host.ts";
import { membersOf, scanProcesses } from "../host/members.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import { TRANSCRIPT_FILE } from "../record/transcript.ts";
import type { AgentStatus } from "./agent-status.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Of one core. A program that only keeps its timers takes less. */
const STILL = 0.01;
/** The kernel counts processor time in steps of this. */
const CPU_GRAIN_MS = 20;
const MOST_OFTEN_MS = 200;
const LEAST_OFTEN_MS = 30_000;
/** A process that began this shortly before its turn was told of belongs to the turn. */
const TOLD_LATE_MS = 2000;

/** Of one that has been quiet for half the time, when that was first seen. */
interface Quiet {
  at: number;
  cpu: Cpu;
  bytes: number;
}

interface Cpu {
  all: number;
  /** Of what it started: tools, and servers of tools. */
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
    // What it draws takes time of its own.
    const which = idleMs >= now.at - before.at ? "all" : "tools";
    return now.cpu[which] - before.cpu[which] > STILL * (now.at - before.at) + CPU_GRAIN_MS;
  }

  /** What it, or who keeps its conversation, has written down. */
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

/** What draws on the terminal was there before the turn: the agent, and what it was launched by. */
function isTool({ pid, standing }: SessionRecord, member: ProcessInfo): boolean {
  if (member.pid === pid) return false;
  const turnFor = msSince(standing?.sinceBoot ?? null);
  const age = msSince(startStamp(member.start));
  const isNew = turnFor !== undefined && age !== undefined && age <= turnFor + TOLD_LATE_MS;
  return isNew || !readsTerminal(member.pid);
}

/** Where that cannot be asked, an older process is taken for the agent's own. */
function readsTerminal(pid: number): boolean {
  try {
    return /^\/dev\/(pts\/|tty)/.test(readlinkSync(`/proc/${pid}/fd/0`));
  } catch {
    return true;
  }
}
