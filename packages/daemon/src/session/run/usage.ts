import { hasEnded, type SessionId, type Usage } from "@holdfast/contract";
import { runMarker } from "../../host/host.ts";
import { membersOf, type ProcessScan, scanProcesses } from "../../host/members.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";

/** If longer, the display seems frozen. If shorter, following a session makes the daemon look at every process of the machine each time. */
const FRESH_MS = 500;

/** Current resource usage of each running session, from one look at all processes of the machine. */
export function usageOf(records: readonly SessionRecord[], keepers: readonly number[]): Map<SessionId, Usage> {
  const live = records.filter(({ status }) => !hasEnded(status));
  return live.length === 0 ? new Map() : usageIn(scanProcesses(keepers), live);
}

/** The same for people to read: reuses a recent look if it contains all requested sessions. */
export class RecentUsage {
  #last: { scan: ProcessScan; at: number } | undefined;

  of(records: readonly SessionRecord[], keepers: () => readonly number[]): Map<SessionId, Usage> {
    const live = records.filter(({ status }) => !hasEnded(status));
    if (live.length === 0) return new Map();
    const last = this.#last;
    const isFresh = last && performance.now() < last.at + FRESH_MS && live.every(({ pid, pidStart }) => isIn(last.scan, pid, pidStart));
    const now = isFresh ? last : { scan: scanProcesses(keepers()), at: performance.now() };
    this.#last = now;
    return usageIn(now.scan, live);
  }
}

function isIn({ table }: ProcessScan, pid: number | null, start: string | null): boolean {
  return pid !== null && table.get(pid)?.start === start;
}

function usageIn(scan: ProcessScan, live: readonly SessionRecord[]): Map<SessionId, Usage> {
  const usage = new Map<SessionId, Usage>();
  for (const record of live) {
    const root = { pid: record.pid ?? 0, start: record.pidStart ?? "" };
    const marker = runMarker({ session: record.id, run: record.run });
    const members = membersOf(scan, { root, marker, treeOnly: record.host === "foreign" });
    const sum = (of: (member: (typeof members)[number]) => number) => members.reduce((total, member) => total + of(member), 0);
    usage.set(record.id, {
      cpuMs: sum((member) => member.cpuMs),
      memoryBytes: sum((member) => member.memoryBytes),
      processes: members.length,
    });
  }
  return usage;
}
