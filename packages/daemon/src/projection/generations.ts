/**
 * Sessions lost at the same time, derived from `generation.recorded`. Keeps the newest generations, and those with sessions that have not come
 * back.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Generation } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";

const KEPT = 20;

export const generationsProjection: Projection = {
  tables: ["generations"],
  kept: ["generation.recorded"],
  apply(db, { type, data, at }) {
    if (type !== "generation.recorded") return;
    const sql = "INSERT INTO generations (number, at, why, sessions) VALUES (?, ?, ?, ?)";
    db.prepare(sql).run(data.number, at, data.why, JSON.stringify(data.sessions));
    const isOpen = `EXISTS (SELECT 1 FROM json_each(generations.sessions) AS each JOIN sessions ON sessions.id = each.value ->> 'id'
      WHERE sessions.lost_run = each.value ->> 'run')`;
    db.prepare(`DELETE FROM generations WHERE number <= ? AND NOT ${isOpen}`).run(data.number - KEPT);
  },
};

/** Returns newest first. */
export function readGenerations(db: DatabaseSync): Generation[] {
  const rows = watched(db, () => db.prepare("SELECT * FROM generations ORDER BY number DESC").all());
  return rows.map(({ number, at, why, sessions }) => ({
    number: number as number,
    at: at as string,
    why: why as Generation["why"],
    sessions: JSON.parse(sessions as string) as Generation["sessions"],
  }));
}
