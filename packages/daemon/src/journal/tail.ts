/** What a damaged database still says that its backup does not: events after the backup's last, as far as they can be read without a hole. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { AnyEvent, EVENTS, type EventType, type HoldfastEvent } from "@holdfast/contract";
import { log } from "@holdfast/platform";
import { transaction } from "./database.ts";
import type { Projection } from "./journal.ts";

type Row = Record<string, string | number | null>;

/** Appends them to `to`, each with what follows from it, and says how many they were. */
export function replayTail(options: { from: string; to: DatabaseSync; projections: readonly Projection[] }): number {
  const { to } = options;
  const last = to.prepare("SELECT seq, id FROM events ORDER BY seq DESC LIMIT 1").get() as { seq: number; id: string } | undefined;
  const names = "seq, epoch, id, type, v, at, actor, session, machine, data";
  const insert = to.prepare(`INSERT INTO events (${names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  let count = 0;
  try {
    using from = openOld(options.from);
    if (!from || !last || from.prepare("SELECT id FROM events WHERE seq = ?").get(last.seq)?.id !== last.id) return 0;
    for (const row of from.prepare(`SELECT ${names} FROM events WHERE seq > ? ORDER BY seq`).iterate(last.seq)) {
      const event = eventOf(row as Row);
      if (event?.seq !== last.seq + count + 1) break;
      transaction(to, () => {
        insert.run(...(Object.values(row) as (string | number | null)[]));
        for (const projection of options.projections) projection.apply(to, event);
      });
      count++;
    }
  } catch (error) {
    log(`the damaged database could be read up to its event ${(last?.seq ?? 0) + count}: ${(error as Error).message}`);
  }
  return count;
}

/** The last event that the database says it has; undefined when it cannot say. */
export function lastSeqIn(path: string): number | undefined {
  try {
    using db = openOld(path);
    return db && Number(db.prepare("SELECT max(seq) AS seq FROM events").get()?.seq ?? 0);
  } catch {
    return undefined;
  }
}

function openOld(path: string): DatabaseSync | undefined {
  return existsSync(path) ? new DatabaseSync(path, { readOnly: true }) : undefined;
}

/** Undefined when a field is not what it must be. */
function eventOf(row: Row): HoldfastEvent | undefined {
  const parsed = AnyEvent.safeParse({ ...row, data: JSON.parse(String(row.data)) });
  if (!parsed.success) return undefined;
  const schema = EVENTS[parsed.data.type as EventType];
  return !schema || schema.safeParse(parsed.data.data).success ? (parsed.data as HoldfastEvent) : undefined;
}
