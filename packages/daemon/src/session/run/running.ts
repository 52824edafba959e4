import { HoldfastError, isRunning } from "@holdfast/contract";
import type { RunId } from "../../host/host.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";

export function runOf(record: Pick<SessionRecord, "id" | "run">): RunId {
  return { session: record.id, run: record.run };
}

/** Resolves a session; throws if it is not running. */
export function runningOne(queries: SessionQueries, ref: string): SessionRecord {
  const record = queries.resolve(ref);
  if (isRunning(record.status)) return record;
  throw notRunning(record);
}

export function notRunning(record: Pick<SessionRecord, "name" | "status">): HoldfastError {
  if (record.status === "created") {
    return new HoldfastError("session_ended", `${record.name} has not been started`, { hint: `start it: holdfast start ${record.name}` });
  }
  return new HoldfastError("session_ended", `${record.name} has ended (${record.status})`, {
    hint: `read its output: holdfast logs ${record.name}`,
  });
}
