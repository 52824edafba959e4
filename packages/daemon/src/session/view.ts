import type { Session, Usage } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";
import { limitedBy } from "./limits.ts";

/** A session as clients see it. `activity` is when a live run last wrote something; it is not in the journal. */
export function viewOf(record: SessionRecord, options: { now: number; activity: number | null; usage?: Usage | undefined }): Session {
  const ended = record.endedAt === null ? undefined : Date.parse(record.endedAt);
  return {
    id: record.id,
    name: record.name,
    kind: record.kind,
    agent: record.agent,
    role: record.role,
    objective: record.objective,
    status: record.status,
    host: record.host,
    cwd: record.cwd,
    command: record.command,
    owner: record.owner,
    pid: record.pid,
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    durationMs: record.startedAt === null ? null : Math.max(0, (ended ?? options.now) - Date.parse(record.startedAt)),
    lastActivityAt: options.activity === null ? record.lastActivityAt : new Date(options.activity).toISOString(),
    outputPath: record.outputPath,
    exit: record.exit,
    cause: record.cause,
    runs: record.run,
    restart: record.restart,
    restartAt: record.restartAt,
    usage: options.usage ?? null,
    memoryLimitBytes: record.memoryLimit,
    memoryLimitBy: limitedBy(record),
  };
}
