/** Attachments, derived from `session.attached` and `session.detached`, and their queries. They are removed with their session. */
import type { DatabaseSync } from "node:sqlite";
import {
  type Attachment,
  type AttachmentRole,
  type EventData,
  type HoldfastEvent,
  type Principal,
  principalOf,
  type SessionId,
  sessionId,
} from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

export interface AttachmentRecord extends Attachment {
  session: SessionId;
  run: number;
  key: string;
  pid: number;
  pidStart: string;
  /** True if the client asked only to observe. */
  readOnly: boolean;
}

type Apply = { [T in HoldfastEvent["type"]]?: (db: DatabaseSync, event: Extract<HoldfastEvent, { type: T }>) => void };

export const attachmentsProjection: Projection = {
  tables: ["attachments"],
  apply(db, event) {
    const apply = APPLY[event.type] as ((db: DatabaseSync, event: HoldfastEvent) => void) | undefined;
    apply?.(db, event);
  },
};

const APPLY: Apply = {
  "session.attached"(db, { session, seq, data: { from, pidStart, readOnly, ...data } }) {
    insertRow(db, "attachments", { ...data, session, seq, origin: from, pid_start: pidStart, read_only: readOnly ? 1 : 0 });
  },
  "session.detached"(db, { data }) {
    db.prepare("DELETE FROM attachments WHERE id = ?").run(data.id);
  },
  "session.control_changed"(db, { session, data }) {
    const role = "CASE WHEN id = ? THEN 'driver' ELSE 'observer' END";
    db.prepare(`UPDATE attachments SET role = ${role} WHERE session = ?`).run(data.driver?.id ?? null, session);
  },
  "session.removed"(db, { session }) {
    forget(db, session);
  },
  "session.snapshot"(db, { session, data }) {
    forget(db, session);
    for (const row of data.attachments ?? []) insertRow(db, "attachments", row);
  },
};

function forget(db: DatabaseSync, session: SessionId | null): void {
  db.prepare("DELETE FROM attachments WHERE session = ?").run(session);
}

export type AttachRequest = EventData<"session.attach_requested"> & { actor: Principal };

/** Most recent requests to search. */
const RECENT = 50;

export class AttachmentQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Lists the oldest first. */
  all(): AttachmentRecord[] {
    return watched(this.#db, () => this.#db.prepare("SELECT * FROM attachments ORDER BY seq").all()).map(toRecord);
  }

  of(session: SessionId): AttachmentRecord[] {
    return watched(this.#db, () => this.#db.prepare("SELECT * FROM attachments WHERE session = ? ORDER BY seq").all(session)).map(toRecord);
  }

  /** Returns this process's last request to attach to the session. */
  requestOf(session: SessionId, client: { pid: number; start: string }): AttachRequest | undefined {
    const sql = "SELECT actor, data FROM events WHERE session = ? AND type = 'session.attach_requested' ORDER BY seq DESC LIMIT ?";
    const rows = watched(this.#db, () => this.#db.prepare(sql).all(session, RECENT));
    const requests = rows.map(({ actor, data }) => ({ ...JSON.parse(String(data)), actor }) as AttachRequest);
    return requests.find((request) => request.client?.pid === client.pid && request.client.start === client.start);
  }

  /** Returns the last principal that requested control since it was last given or taken. That change settled earlier requests. */
  lastAsking(session: SessionId): Principal | undefined {
    const sql = `SELECT actor FROM events WHERE session = ?1 AND type = 'session.control_requested' AND seq > coalesce(
        (SELECT max(seq) FROM events WHERE session = ?1 AND type = 'session.control_changed' AND data ->> 'how' IN ('given', 'taken')), 0)
      ORDER BY seq DESC LIMIT 1`;
    const row = watched(this.#db, () => this.#db.prepare(sql).get(session));
    return row && principalOf(String(row.actor));
  }
}

function toRecord(row: Record<string, unknown>): AttachmentRecord {
  return {
    id: row.id as string,
    session: sessionId(row.session as string),
    run: row.run as number,
    principal: principalOf(row.principal as string),
    role: row.role as AttachmentRole,
    since: row.since as string,
    terminal: row.terminal as string | null,
    from: row.origin as string | null,
    key: row.key as string,
    pid: row.pid as number,
    pidStart: row.pid_start as string,
    readOnly: row.read_only === 1,
  };
}
