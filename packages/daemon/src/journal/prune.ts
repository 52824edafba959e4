/**
 * Keeps the journal from growing forever. For a session removed before `before`, deletes every event except those that tables depend on, so a
 * rebuild loses nothing. For an existing session with many old events, deletes those and appends a snapshot of its rows in the same transaction.
 * Also deletes old events without a session, such as daemon starts, if no table depends on them.
 *
 * Numbers are never reused: the old part has gaps, and `journal.pruned` says up to where. A reader with a cursor in that part gets an error,
 * because it would miss deleted events. The file does not shrink; its free pages are reused.
 */
import type { DatabaseSync } from "node:sqlite";
import { type EventData, type Principal, type SessionId, sessionId } from "@holdfast/contract";
import type { Draft, Journal } from "./journal.ts";

/** Limits per transaction: a few milliseconds in which nothing else can be appended. */
const SESSIONS_AT_ONCE = 50;
const EVENTS_AT_ONCE = 2000;

/** An existing session keeps this many old events: people read them, and fewer are not worth a snapshot. */
const MOST_OLD_EVENTS = 1000;

/** Each event has all conflicts of a workspace, so only its last one counts. */
const OUTDATED = `
  SELECT seq FROM events WHERE session IS NULL AND type = 'workspace.conflicts_changed' AND at < ? AND seq NOT IN (
    SELECT max(seq) FROM events WHERE session IS NULL AND type = 'workspace.conflicts_changed' GROUP BY json_extract(data, '$.id')
  ) LIMIT ${EVENTS_AT_ONCE}`;

/** Shared values that were changed later or removed with their group, and all but the last coordinator change of a group. */
const SUPERSEDED = `
  SELECT e.seq FROM events e WHERE e.type IN ('group.value_shared', 'group.value_unset') AND e.at < ?1 AND (
    EXISTS (SELECT 1 FROM events l WHERE l.type IN ('group.value_shared', 'group.value_unset') AND l.seq > e.seq
              AND json_extract(l.data, '$.group') = json_extract(e.data, '$.group') AND json_extract(l.data, '$.key') = json_extract(e.data, '$.key'))
    OR EXISTS (SELECT 1 FROM events r WHERE r.type = 'group.removed' AND r.seq > e.seq
              AND json_extract(r.data, '$.group') = json_extract(e.data, '$.group'))
  )
  UNION ALL
  SELECT seq FROM events WHERE type = 'group.coordinator_changed' AND at < ?1 AND seq NOT IN (
    SELECT max(seq) FROM events WHERE type = 'group.coordinator_changed' GROUP BY json_extract(data, '$.group')
  ) LIMIT ${EVENTS_AT_ONCE}`;

/** Kept types are kept regardless of their session's fate. */
const NOT_KEPT = "type NOT IN (SELECT value FROM json_each(?))";

export interface PruneOptions {
  /** Events before this time are old. */
  before: string;
  actor: Principal;
  snapshot(db: DatabaseSync, session: SessionId): EventData<"session.snapshot"> | undefined;
  /** True if the session has a record: a removed one may have been adopted again. */
  isThere(session: SessionId): boolean;
  /** Called before the last events of a removed session are deleted. */
  forget(session: SessionId): void;
  mostOldEvents?: number;
}

/** Does one step; returns true if there may be more to do. */
export function pruneEvents(journal: Journal, options: PruneOptions): boolean {
  let again = false;
  journal.rewrite((db) => {
    const removed = removedSessions(db, options).filter((session) => !options.isThere(session));
    const kept = JSON.stringify(journal.kept);
    const crowded = removed.length > 0 ? [] : crowdedSessions(db, { ...options, kept });
    for (const session of removed) options.forget(session);
    const deleted = [
      ...removed.map((session) => deleteWhere(db, `session = ? AND ${NOT_KEPT}`, session, kept)),
      ...crowded.map((session) => deleteWhere(db, `session = ? AND at < ? AND ${NOT_KEPT}`, session, options.before, kept)),
      deleteWhere(
        db,
        `seq IN (SELECT seq FROM events WHERE session IS NULL AND ${NOT_KEPT} AND at < ? AND NOT (${journal.needed})
           ORDER BY seq LIMIT ${EVENTS_AT_ONCE})`,
        kept,
        options.before,
      ),
      deleteWhere(db, `seq IN (${OUTDATED})`, options.before),
      deleteWhere(db, `seq IN (${SUPERSEDED})`, options.before),
    ];
    const events = deleted.reduce((sum, { count }) => sum + count, 0);
    if (events === 0) return { upTo: 0, drafts: [] };
    again = removed.length > 0 || crowded.length > 0;
    const upTo = Math.max(...deleted.map(({ last }) => last));
    const snapshots = crowded.flatMap((session): Draft[] => {
      const data = options.snapshot(db, session);
      return data ? [{ type: "session.snapshot", actor: options.actor, session, data }] : [];
    });
    const data = { events, sessions: removed.length, upTo, before: options.before };
    return { upTo, drafts: [...snapshots, { type: "journal.pruned", actor: options.actor, session: null, data }] };
  });
  return again;
}

function removedSessions(db: DatabaseSync, { before }: PruneOptions): SessionId[] {
  const sql = `SELECT session FROM events WHERE type = 'session.removed' AND at < ? ORDER BY at LIMIT ${SESSIONS_AT_ONCE}`;
  return db
    .prepare(sql)
    .all(before)
    .map(({ session }) => sessionId(String(session)));
}

/** Returns one session at a time, because a snapshot with many runs is large. */
function crowdedSessions(
  db: DatabaseSync,
  { before, kept, mostOldEvents = MOST_OLD_EVENTS }: PruneOptions & { kept: string },
): SessionId[] {
  const many = "SELECT session FROM events WHERE session IS NOT NULL GROUP BY session HAVING count(*) > ?";
  const old = db.prepare(`SELECT count(*) AS n FROM events WHERE session = ? AND at < ? AND ${NOT_KEPT}`);
  for (const { session } of db.prepare(many).all(mostOldEvents)) {
    if (Number(old.get(String(session), before, kept)?.n) > mostOldEvents) return [sessionId(String(session))];
  }
  return [];
}

function deleteWhere(db: DatabaseSync, where: string, ...values: string[]): { count: number; last: number } {
  const last = Number(db.prepare(`SELECT coalesce(max(seq), 0) AS seq FROM events WHERE ${where}`).get(...values)?.seq);
  return { count: Number(db.prepare(`DELETE FROM events WHERE ${where}`).run(...values).changes), last };
}
