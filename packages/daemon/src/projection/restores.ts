/** The last restore. Stored in `meta` beside the journal's own data; replaces the new database's pending report. */
import type { DatabaseSync } from "node:sqlite";
import type { RestoreReport } from "@holdfast/contract";
import type { Projection } from "../journal/journal.ts";

export const restoresProjection: Projection = {
  tables: [],
  apply(db, event) {
    if (event.type !== "journal.restored") return;
    const report = JSON.stringify({ ...event.data, at: event.at });
    db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('restored', ?)").run(report);
    db.prepare("DELETE FROM meta WHERE key = 'restore'").run();
  },
};

/** Returns the last restore of this home, if any. */
export function lastRestore(db: DatabaseSync): (RestoreReport & { at: string }) | null {
  const text = db.prepare("SELECT value FROM meta WHERE key = 'restored'").get()?.value;
  return text === undefined ? null : (JSON.parse(String(text)) as RestoreReport & { at: string });
}
