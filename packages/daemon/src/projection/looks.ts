/** How far each principal has seen each session, derived from `session.looked_at`. Removed with the session. */
import type { DatabaseSync } from "node:sqlite";
import type { EventData, Principal, SessionId } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

export const looksProjection: Projection = {
  tables: ["looks"],
  apply(db, event) {
    const { session, at, actor } = event;
    if (event.type === "session.looked_at") {
      const { upTo, head } = event.data;
      db.prepare("INSERT OR REPLACE INTO looks (session, principal, up_to, at, head) VALUES (?, ?, ?, ?, ?)").run(
        session,
        actor,
        upTo,
        at,
        head,
      );
    } else if (event.type === "session.removed" || event.type === "session.snapshot") {
      db.prepare("DELETE FROM looks WHERE session = ?").run(session);
      if (event.type === "session.snapshot") for (const look of event.data.looks ?? []) insertRow(db, "looks", look);
    }
  },
};

export interface Look {
  upTo: number;
  at: string;
  head: string | null;
}

export function lookOf(db: DatabaseSync, session: SessionId, principal: Principal): Look | undefined {
  const sql = "SELECT up_to, at, head FROM looks WHERE session = ? AND principal = ?";
  const row = watched(db, () => db.prepare(sql).get(session, principal));
  return row && { upTo: row.up_to as number, at: row.at as string, head: row.head as string | null };
}

/** Most recent looks to search. */
const RECENT = 100;

/** Returns the principal's last look from before this journal position. */
export function lookBefore(
  db: DatabaseSync,
  { session, principal, told }: { session: SessionId; principal: Principal; told: number },
): Look | undefined {
  const sql = "SELECT at, data FROM events WHERE session = ? AND type = 'session.looked_at' AND actor = ? ORDER BY seq DESC LIMIT ?";
  const rows = watched(db, () => db.prepare(sql).all(session, principal, RECENT));
  const looks = rows.map(({ at, data }) => ({ at: String(at), ...(JSON.parse(String(data)) as EventData<"session.looked_at">) }));
  return looks.find(({ upTo }) => upTo < told);
}
