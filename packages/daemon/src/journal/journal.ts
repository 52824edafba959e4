/**
 * The append-only log. Appending and projecting are one transaction: a table never says what the log does not.
 *
 * Order: `seq` counts from 1 in commit order within an epoch, without gaps except for pruned events (prune.ts). Readers hold a cursor and read
 * forward; the journal keeps no state per reader, so a slow reader costs nothing and misses nothing. Recent events are read from memory
 * (recent.ts); all readers share the same objects and must not change them. Listeners learn only that there is more to read, after the commit, once
 * per turn of the event loop.
 */
import { randomUUID } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type AnyEvent,
  type Cursor,
  EVENT_VERSION,
  type EventData,
  type EventType,
  HoldfastError,
  type HoldfastEvent,
  type Principal,
  type SessionId,
  unwritable,
} from "@holdfast/contract";
import { transaction, watched } from "./database.ts";
import { RecentEvents } from "./recent.ts";
import type { Reserve } from "./reserve.ts";

/** An event to be written. The journal adds position, time and identity. */
export type Draft = {
  [T in EventType]: { type: T; actor: Principal; session: SessionId | null; data: EventData<T> };
}[EventType];

/** Derives tables from events. `apply` sees each event once, in order, inside the transaction that appends it. */
export interface Projection {
  readonly tables: readonly string[];
  /** Event types that its tables are built from, without a session or regardless of the session's fate. They are never pruned. */
  readonly kept?: readonly EventType[];
  /** SQL condition on `events` without a session: rows still depend on these. They are not pruned while the row exists. */
  readonly needed?: string;
  apply(db: DatabaseSync, event: HoldfastEvent): void;
}

/** Derives further events from an event, in the same transaction and with the tables as of that event. */
export type Consequence = (event: HoldfastEvent) => Draft[];

export interface EventFilter {
  session?: SessionId | undefined;
  types?: readonly string[] | undefined;
  /** Only events of these sessions. Called at each read, because the list may grow. */
  within?: (() => readonly SessionId[]) | undefined;
  /** With `within`: also events of these groups, by path. */
  groups?: (() => readonly string[]) | undefined;
  /** Only events of this group. */
  group?: string | undefined;
  /** With `group`: excludes a removed group that had the same path. */
  asItIs?: boolean | undefined;
  /** Only actions of principals other than the daemon. */
  byOthers?: boolean | undefined;
  actors?: readonly string[] | undefined;
  /** Not before this time (ISO 8601). */
  since?: string | undefined;
}

/** The path of the group that an event is about. */
const OF_GROUP = "(CASE WHEN type GLOB 'group.*' THEN json_extract(data, '$.group') END)";

/** A removed group has no members any more, so its removal is shown to its last members. */
const WAS_MEMBER = `EXISTS (SELECT 1 FROM json_each(?) own WHERE 'group.joined' = (
  SELECT m.type FROM events m WHERE m.session = own.value AND m.type IN ('group.joined', 'group.left') AND m.seq < events.seq
  AND json_extract(m.data, '$.group') = json_extract(events.data, '$.group') ORDER BY m.seq DESC LIMIT 1))`;

/** A new group must not show events of a removed group with the same path. */
const OF_THIS_ONE = `NOT EXISTS (SELECT 1 FROM events r WHERE r.type = 'group.removed'
  AND json_extract(r.data, '$.group') = json_extract(events.data, '$.group') AND r.seq > events.seq)`;

export class Journal {
  readonly epoch: string;
  readonly machine: string;
  readonly #db: DatabaseSync;
  readonly #projections: readonly Projection[];
  readonly #clock: () => number;
  readonly #reserve: Reserve | undefined;
  readonly #insert: StatementSync;
  readonly #listeners = new Set<() => void>();
  readonly #consequences: Consequence[] = [];
  #owed: Draft[] = [];
  #seq: number;
  #recent: RecentEvents;
  #noticePending = false;

  constructor(options: {
    db: DatabaseSync;
    projections: readonly Projection[];
    machineName: string;
    reserve?: Reserve;
    clock?: () => number;
  }) {
    this.#db = options.db;
    this.#projections = options.projections;
    this.#clock = options.clock ?? Date.now;
    this.#reserve = options.reserve;
    this.epoch = this.#meta("epoch", () => randomUUID().slice(0, 8));
    this.machine = this.#meta("machine", () => `${options.machineName}-${randomUUID().slice(0, 4)}`);
    this.#seq = Number(this.#db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM events").get()?.seq);
    this.#recent = new RecentEvents(this.#seq);
    this.#insert = this.#db.prepare(
      "INSERT INTO events (seq, epoch, id, type, v, at, actor, session, machine, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
  }

  /** Event types that pruning must keep so that the tables can be rebuilt. */
  get kept(): EventType[] {
    return this.#projections.flatMap(({ kept = [] }) => kept);
  }

  /** Condition for the events without a session that pruning must keep. */
  get needed(): string {
    return this.#projections.flatMap(({ needed }) => (needed === undefined ? [] : [`(${needed})`])).join(" OR ") || "FALSE";
  }

  followWith(consequence: Consequence): void {
    this.#consequences.push(consequence);
  }

  get cursor(): Cursor {
    return { epoch: this.epoch, seq: this.#seq };
  }

  /** Appends all events or none. On return they are in the log and in every table, and so are the events owed before them. */
  append(...drafts: Draft[]): HoldfastEvent[] {
    let seq = this.#seq;
    const owed = this.#owed.length;
    const written = transaction(this.#db, () => {
      const all = [...this.#owed, ...drafts].map((draft) => this.#write(draft, ++seq));
      for (const { event } of all) {
        for (const draft of this.#consequences.flatMap((consequence) => consequence(event))) all.push(this.#write(draft, ++seq));
      }
      return all;
    });
    this.#seq = seq;
    this.#owed = [];
    for (const { event, text } of written) this.#recent.add(event, text);
    this.#notice();
    return written.slice(owed, owed + drafts.length).map(({ event }) => event);
  }

  /** For facts that are true even if they cannot be written. On a full disk they are owed, and written before the next event. */
  note(...drafts: Draft[]): void {
    try {
      const append = () => this.append(...drafts);
      if (this.#reserve) this.#reserve.spend(append);
      else append();
    } catch (error) {
      if (!unwritable(error)) throw error;
      this.#owed.push(...drafts);
    }
  }

  owes(session: SessionId, type: EventType): boolean {
    return this.#owed.some((draft) => draft.session === session && draft.type === type);
  }

  /** Writes owed events; throws if that still fails. */
  settle(): void {
    if (this.#owed.length > 0) this.append();
  }

  /** Deletes old events up to `upTo` and appends their replacements, in one transaction. The remaining events must rebuild the same tables. */
  rewrite(work: (db: DatabaseSync) => { upTo: number; drafts: Draft[] }): void {
    let seq = this.#seq;
    transaction(this.#db, () => {
      const { upTo, drafts } = work(this.#db);
      for (const draft of drafts) this.#write(draft, ++seq);
      if (upTo > this.#prunedUpTo()) {
        this.#db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('pruned_up_to', ?)").run(String(upTo));
      }
    });
    this.#recent = new RecentEvents(seq);
    if (seq === this.#seq) return;
    this.#seq = seq;
    this.#notice();
  }

  /** Returns at most `limit` events after `seq`, oldest first. */
  readAfter(seq: number, limit: number, filter: EventFilter = {}): AnyEvent[] {
    const { session, types, ...narrower } = filter;
    const isPlain = Object.values(narrower).every((value) => value === undefined || value === false);
    const recent = isPlain ? this.#recent.readAfter(seq, limit, { session, types }) : undefined;
    return recent ?? this.#readStored(seq, limit, filter);
  }

  #readStored(seq: number, limit: number, filter: EventFilter): AnyEvent[] {
    const where = ["seq > ?"];
    const values: (string | number)[] = [seq];
    if (filter.session !== undefined) {
      where.push("session = ?");
      values.push(filter.session);
    }
    if (filter.types !== undefined) {
      where.push(`type IN (${filter.types.map(() => "?").join(", ")})`);
      values.push(...filter.types);
    }
    if (filter.within !== undefined) {
      // A removed session has no parent any more, so its last event names the parent.
      const own = "(SELECT value FROM json_each(?))";
      const ofGroups = filter.groups ? ` OR (${OF_GROUP} IN ${own} AND ${OF_THIS_ONE}) OR (type = 'group.removed' AND ${WAS_MEMBER})` : "";
      where.push(`(session IN ${own} OR (type = 'session.removed' AND json_extract(data, '$.parent') IN ${own})${ofGroups})`);
      const ids = JSON.stringify(filter.within());
      values.push(ids, ids, ...(filter.groups ? [JSON.stringify(filter.groups()), ids] : []));
    }
    if (filter.group !== undefined) {
      where.push(`${OF_GROUP} = ?`, ...(filter.asItIs ? [OF_THIS_ONE] : []));
      values.push(filter.group);
    }
    if (filter.byOthers) where.push("actor <> 'daemon'");
    if (filter.actors !== undefined) {
      where.push(`actor IN (${filter.actors.map(() => "?").join(", ")})`);
      values.push(...filter.actors);
    }
    if (filter.since !== undefined) {
      where.push("at >= ?");
      values.push(filter.since);
    }
    const sql = `SELECT * FROM events WHERE ${where.join(" AND ")} ORDER BY seq LIMIT ?`;
    const rows = watched(this.#db, () => this.#db.prepare(sql).all(...values, limit));
    return rows.map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as unknown as AnyEvent);
  }

  /** Returns the newest event, optionally of one type or session. */
  lastOf(type?: EventType, session?: SessionId): AnyEvent | undefined {
    const wanted = Object.entries({ type, session }).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
    const where = wanted.map(({ column }) => `${column} = ?`).join(" AND ");
    const sql = `SELECT * FROM events ${where && `WHERE ${where}`} ORDER BY seq DESC LIMIT 1`;
    const row = watched(this.#db, () => this.#db.prepare(sql).get(...wanted.map(({ value }) => value)));
    return row && ({ ...row, data: JSON.parse(String(row.data)) } as unknown as AnyEvent);
  }

  /** Returns the last event before this boot of the machine; undefined if no daemon has recorded a start in this boot. */
  lastBefore(boot: string): AnyEvent | undefined {
    return watched(this.#db, () => {
      let first: unknown;
      for (const { seq, data } of this.#db
        .prepare("SELECT seq, data FROM events WHERE type = 'daemon.started' ORDER BY seq DESC")
        .iterate()) {
        if ((JSON.parse(String(data)) as { boot?: string }).boot !== boot) break;
        first = seq;
      }
      if (first === undefined) return undefined;
      const row = this.#db.prepare("SELECT * FROM events WHERE seq < ? ORDER BY seq DESC LIMIT 1").get(Number(first));
      return row && ({ ...row, data: JSON.parse(String(row.data)) } as unknown as AnyEvent);
    });
  }

  /**
   * Returns where a reader at `after` continues. Throws for a position beyond the end, in a pruned part, or in another epoch whose event is not
   * here. If it is here, everything up to it is as the reader knows it: what that epoch lost came later.
   */
  resolveCursor(after: { epoch: string | undefined; seq: number }): Cursor {
    if (after.epoch !== undefined && after.epoch !== this.epoch && after.epoch !== this.#epochOf(after.seq)) {
      throw new HoldfastError("cursor_gone", `the cursor belongs to epoch ${after.epoch}; the journal is in epoch ${this.epoch}`, {
        hint: "take a new snapshot (`holdfast ls`) and follow from its cursor",
      });
    }
    if (after.seq > this.#seq) {
      throw new HoldfastError("cursor_gone", `the cursor ${after.seq} is beyond the last event, ${this.#seq}`, {
        hint: "omit --after to start with the first event",
      });
    }
    if (after.seq > 0 && after.seq < this.#prunedUpTo()) {
      throw new HoldfastError("cursor_gone", `events after the cursor ${after.seq} were pruned, up to ${this.#prunedUpTo()}`, {
        hint: "take a new snapshot (`holdfast ls`) and follow from its cursor",
      });
    }
    return { epoch: this.epoch, seq: after.seq };
  }

  #epochOf(seq: number): unknown {
    return watched(this.#db, () => this.#db.prepare("SELECT epoch FROM events WHERE seq = ?").get(seq)?.epoch);
  }

  /** Resolves when an event was appended after `seq`, or the signal aborts. */
  async changed(seq: number, signal: AbortSignal): Promise<void> {
    if (this.#seq > seq || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener("abort", done);
    });
  }

  /** Rebuilds every projected table from the log, in one transaction. */
  rebuild(): void {
    transaction(this.#db, () => {
      for (const projection of this.#projections) for (const table of projection.tables) this.#db.exec(`DELETE FROM ${table}`);
      for (const row of this.#db.prepare("SELECT * FROM events ORDER BY seq").iterate()) {
        const event = { ...row, data: JSON.parse(String(row.data)) } as unknown as HoldfastEvent;
        for (const projection of this.#projections) projection.apply(this.#db, event);
      }
    });
  }

  #write(draft: Draft, seq: number): { event: HoldfastEvent; text: string } {
    const event = {
      epoch: this.epoch,
      seq,
      id: randomUUID(),
      type: draft.type,
      v: EVENT_VERSION,
      at: new Date(this.#clock()).toISOString(),
      actor: draft.actor,
      session: draft.session,
      machine: this.machine,
      data: draft.data,
    } as HoldfastEvent;
    const text = JSON.stringify(event.data);
    this.#insert.run(seq, event.epoch, event.id, event.type, event.v, event.at, event.actor, event.session, event.machine, text);
    for (const projection of this.#projections) projection.apply(this.#db, event);
    return { event, text };
  }

  #prunedUpTo(): number {
    return Number(watched(this.#db, () => this.#db.prepare("SELECT value FROM meta WHERE key = 'pruned_up_to'").get())?.value ?? 0);
  }

  #notice(): void {
    if (this.#noticePending) return;
    this.#noticePending = true;
    setImmediate(() => {
      this.#noticePending = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  #meta(key: string, create: () => string): string {
    this.#db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(key, create());
    return String(this.#db.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.value);
  }
}
