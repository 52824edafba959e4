/** Reads the events of a damaged database that its backup lacks: all after the backup's last, up to the first gap. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { AnyEvent, EVENTS, type EventType, type HoldfastEvent, unwritable } from "@holdfast/contract";
import { log } from "@holdfast/platform";
import { transaction } from "./database.ts";
import type { Projection } from "./journal.ts";

const COLUMNS = ["seq", "epoch", "id", "type", "v", "at", "actor", "session", "machine", "data"] as const;

type Row = Record<string, string | number | null>;

/** Appends the events to `to`, with their projections, and returns their number. */
export function replayTail(options: { from: string; to: DatabaseSync; projections: readonly Projection[] }): number {
  const { from, to } = options;
  const last = to.prepare("SELECT seq, id FROM events ORDER BY seq DESC LIMIT 1").get() as { seq: number; id: string } | undefined;
  const insert = to.prepare(`INSERT INTO events (${COLUMNS}) VALUES (${COLUMNS.map(() => "?")})`);
  let count = 0;
  // An error here comes from writing, and must not pass for an early end of the old database.
  for (const { row, event } of readable(from, last ?? { seq: 0, id: undefined })) {
    transaction(to, () => {
      insert.run(...COLUMNS.map((name) => row[name] ?? null));
      for (const projection of options.projections) projection.apply(to, event);
    });
    count++;
  }
  return count;
}

/** Yields events up to the first gap or unreadable one. */
function* readable(path: string, last: { seq: number; id: string | undefined }): Generator<{ row: Row; event: HoldfastEvent }> {
  let { seq } = last;
  try {
    using from = openOld(path);
    if (!from || from.prepare("SELECT id FROM events WHERE seq = ?").get(seq)?.id !== last.id) return;
    for (const row of from.prepare(`SELECT ${COLUMNS} FROM events WHERE seq > ? ORDER BY seq`).iterate(seq)) {
      const event = eventOf(row as Row);
      if (event?.seq !== seq + 1) return;
      yield { row: row as Row, event };
      seq++;
    }
  } catch (error) {
    // Without disk space the database cannot be opened either; that says nothing about its content.
    if (unwritable(error) || isWithoutSharedMemory(error)) throw error;
    log(`the damaged database was readable up to event ${seq}: ${(error as Error).message}`);
  }
}

/** SQLITE_IOERR_SHMOPEN, SHMSIZE and SHMMAP: the index of the log could not be created. */
function isWithoutSharedMemory(error: unknown): boolean {
  return [4618, 4874, 5386].includes((error as { errcode?: number }).errcode ?? 0);
}

/** Returns the number of the database's last event, or undefined if unreadable. */
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

/** Returns undefined if a field is invalid. */
function eventOf(row: Row): HoldfastEvent | undefined {
  const parsed = AnyEvent.safeParse({ ...row, data: JSON.parse(String(row.data)) });
  if (!parsed.success) return undefined;
  const schema = EVENTS[parsed.data.type as EventType];
  return !schema || schema.safeParse(parsed.data.data).success ? (parsed.data as HoldfastEvent) : undefined;
}
