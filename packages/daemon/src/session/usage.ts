import { hasEnded, type SessionId, type Usage } from "@holdfast/contract";
import { runMarker } from "../host/host.ts";
import { membersOf, scanProcesses } from "../host/members.ts";
import type { SessionRecord } from "../projection/session-queries.ts";

/** What the processes of each running session use now, from one look at all processes of the machine. */
export function usageOf(records: readonly SessionRecord[], keepers: readonly number[]): Map<SessionId, Usage> {
  const scan = scanProcesses(keepers);
  const usage = new Map<SessionId, Usage>();
  for (const record of records) {
    if (hasEnded(record.status)) continue;
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
