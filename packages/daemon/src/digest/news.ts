/** Reads the events of a session that are news, and sorts them into the parts of a digest. Everything but the reading is pure. */
import type { DatabaseSync } from "node:sqlite";
import {
  type AnyEvent,
  type Digest,
  type EventData,
  type EventType,
  nearText,
  type RunNews,
  reachedText,
  type SessionId,
  type Trouble,
} from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import { IS_NEWS } from "../journal/news.ts";

/** More than anybody reads; a program that needs everything reads the events. */
export const MOST_NEWS = 1000;

/** The newest news after a journal position, oldest first; one more than wanted shows that there are more. */
export function readNews(db: DatabaseSync, session: SessionId, seq: number, limit = MOST_NEWS + 1): AnyEvent[] {
  const sql = `SELECT * FROM events WHERE session = ? AND seq > ? AND ${IS_NEWS} ORDER BY seq DESC LIMIT ?`;
  const rows = watched(db, () => db.prepare(sql).all(session, seq, limit));
  return rows.reverse().map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as unknown as AnyEvent);
}

/** The newest position with news after `seq`, if any. */
export function lastNews(db: DatabaseSync, session: SessionId, seq: number): number | undefined {
  const sql = `SELECT seq FROM events WHERE session = ? AND seq > ? AND ${IS_NEWS} ORDER BY seq DESC LIMIT 1`;
  return watched(db, () => db.prepare(sql).get(session, seq))?.seq as number | undefined;
}

/** The newest position with news up to `seq`, if any. */
export function newsUpTo(db: DatabaseSync, session: SessionId, seq: number): number | undefined {
  const sql = `SELECT seq FROM events WHERE session = ? AND seq <= ? AND ${IS_NEWS} ORDER BY seq DESC LIMIT 1`;
  return watched(db, () => db.prepare(sql).get(session, seq))?.seq as number | undefined;
}

/** The newest checkpoint of the session's turns at or before a position. */
export function checkpointsUpTo(db: DatabaseSync, session: SessionId, seq: number): EventData<"checkpoint.created"> | undefined {
  const sql = `SELECT data FROM events WHERE session = ? AND seq <= ? AND ${IS_NEWS} AND type = 'checkpoint.created' ORDER BY seq DESC LIMIT 1`;
  const row = watched(db, () => db.prepare(sql).get(session, seq));
  return row && (JSON.parse(String(row.data)) as EventData<"checkpoint.created">);
}

/** The last journal position before a time. A binary search, because the journal is long and its times hardly ever go back. */
export function placeBefore(db: DatabaseSync, at: string, last: number): number {
  const next = db.prepare("SELECT seq, at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1");
  let [low, high] = [0, last];
  while (low < high) {
    const middle = Math.floor((low + high) / 2) + 1;
    const event = watched(db, () => next.get(middle));
    if (event && String(event.at) < at) low = Math.max(middle, event.seq as number);
    else high = middle - 1;
  }
  return Math.min(low, last);
}

type Of<T extends EventType> = Omit<AnyEvent, "data"> & { data: EventData<T> };

export function ofType<T extends EventType>(events: readonly AnyEvent[], type: T): Of<T>[] {
  return events.filter((event) => event.type === type) as unknown as Of<T>[];
}

/** The ids that events of these types name, each once, in order. */
export function idsOf(events: readonly AnyEvent[], prefix: string): string[] {
  return [...new Set(events.flatMap(({ type, data }) => (type.startsWith(prefix) ? [String(data.id)] : [])))];
}

export function answersOf(events: readonly AnyEvent[]): Digest["answers"] {
  return ofType(events, "session.replied").map(({ data }) => ({
    turn: data.turn,
    run: data.run,
    at: data.toldAt,
    text: data.reply,
    cut: data.cut,
  }));
}

export function troublesOf(events: readonly AnyEvent[], limits: readonly { at: string; text: string }[]): Trouble[] {
  const troubles: Trouble[] = [
    ...ofType(events, "session.turn_failed").map(({ data }) => ({ at: data.toldAt, kind: "turn_failed" as const, text: data.why })),
    ...limits.map((limit) => ({ ...limit, kind: "rate_limit" as const })),
    ...ofType(events, "recording.gap").map(({ at, data }) => ({ at, kind: "not_recorded" as const, text: data.why })),
    ...ofType(events, "session.limit_exceeded").map(({ at, data }) => ({
      at,
      kind: "memory" as const,
      text: `used ${data.used} bytes of memory, of ${data.allowed} allowed`,
    })),
    ...budgetTroubles(events),
  ];
  return troubles.sort((a, b) => a.at.localeCompare(b.at));
}

/** A warning before a limit is no news once the limit was reached. */
function budgetTroubles(events: readonly AnyEvent[]): Trouble[] {
  const exceeded = ofType(events, "budget.exceeded");
  const near = ofType(events, "budget.warned").filter(({ data }) => !exceeded.some((other) => other.data.limit === data.limit));
  const kind = "budget" as const;
  return [
    ...near.map(({ at, data }) => ({ at, kind, text: nearText(data) })),
    ...exceeded.map(({ at, data }) => ({ at, kind, text: `${reachedText(data)}${data.of ? `, of ${data.of.name}` : ""}: stopped` })),
  ];
}

function howItBegan({ conversation, prompt }: EventData<"session.run_created">): string {
  const begins = conversation === undefined ? "anew" : "with its conversation";
  if (prompt === undefined) return begins;
  return `${begins}, ${prompt === "withheld" ? "without the first prompt: an earlier run may have executed it" : "with the first prompt"}`;
}

export function runsOf(events: readonly AnyEvent[]): RunNews[] {
  return events.flatMap((event): RunNews[] => {
    const { at, data } = event;
    const run = Number(data.run ?? 1);
    switch (event.type as EventType) {
      case "session.created":
        return [{ at, run, what: "began", text: `started by ${event.actor}` }];
      case "session.run_created":
        return [{ at, run, what: data.why as "restart", text: howItBegan(data as EventData<"session.run_created">) }];
      case "session.adopted":
        return [{ at, run, what: "adopted", text: "found running without a record" }];
      case "session.ended":
        return [{ ...endOf(data as EventData<"session.ended">), run, at: String(data.endedAt) }];
      case "session.restart_abandoned":
        return data.why === "stopped" ? [] : [{ at, run, what: "given_up", text: String(data.why).replaceAll("_", " ") }];
      default:
        return [];
    }
  });
}

function endOf({ exit, cause }: EventData<"session.ended">): Pick<RunNews, "what" | "text"> {
  const how = exit?.signal ?? (exit?.code == null ? "" : `exit code ${exit.code}`);
  if (cause === "stopped") return { what: "stopped", text: how };
  if (cause === "lost") return { what: "lost", text: "its keeper vanished" };
  if (cause === "exited" && exit === null) return { what: "lost", text: "it ended; how is not known" };
  if (cause === "exited" && exit?.code === 0) return { what: "done", text: how };
  return { what: "failed", text: cause === "exited" ? how : cause.replaceAll("_", " ") };
}

/** Handovers of the session; additional fields of a newer Holdfast are left out. */
export function handoversOf(events: readonly AnyEvent[]): Digest["handovers"] {
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  return events.flatMap(({ type, at, actor, data }) =>
    (type as string) === "session.handed_over" ? [{ at, by: actor, to: text(data.to), note: text(data.note) }] : [],
  );
}
