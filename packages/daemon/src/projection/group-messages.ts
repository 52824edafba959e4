/**
 * Messages to groups, derived from `group.message_sent`, and their queries. They are removed with their group. In an existing group the newest stay
 * regardless of age; the others stay until the journal is pruned.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type HoldfastEvent, type Message, type Principal, principalOf } from "@holdfast/contract";
import { watched } from "../journal/database.ts";
import type { Projection } from "../journal/journal.ts";

/** Messages kept per group, regardless of age. */
const KEPT = 1000;

export interface GroupMessageRecord {
  id: string;
  group: string;
  role: NonNullable<Message["role"]>;
  from: Principal;
  text: string;
  thread: string;
  replyTo: string | null;
  at: string;
}

type Apply = { [T in HoldfastEvent["type"]]?: (db: DatabaseSync, event: Extract<HoldfastEvent, { type: T }>) => void };

export const groupMessagesProjection: Projection = {
  tables: ["group_messages"],
  needed: "type = 'group.message_sent' AND json_extract(data, '$.id') IN (SELECT id FROM group_messages)",
  apply(db, event) {
    const apply = APPLY[event.type] as ((db: DatabaseSync, event: HoldfastEvent) => void) | undefined;
    apply?.(db, event);
  },
};

const APPLY: Apply = {
  "group.message_sent"(db, { actor, at, seq, data }) {
    const { id, group, role, text, replyTo = null, thread = id } = data;
    const sql = "INSERT INTO group_messages (id, seq, path, role, sender, text, thread, reply_to, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    db.prepare(sql).run(id, seq, group, role, actor, text, thread, replyTo, at);
  },
  "group.removed"(db, { data }) {
    db.prepare("DELETE FROM group_messages WHERE path = ?").run(data.group);
  },
  "journal.pruned"(db, { data }) {
    const newer = "SELECT count(*) FROM group_messages n WHERE n.path = group_messages.path AND n.seq > group_messages.seq";
    db.prepare(`DELETE FROM group_messages WHERE at < ? AND (${newer}) >= ${KEPT}`).run(data.before);
  },
};

export class GroupMessageQueries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(id: string): GroupMessageRecord | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  /** Returns the newest `limit`, oldest first. */
  list(group: string, limit: number): GroupMessageRecord[] {
    return this.#read("WHERE path = ? ORDER BY seq DESC LIMIT ?", group, limit).reverse();
  }

  #read(rest: string, ...values: SQLInputValue[]): GroupMessageRecord[] {
    const rows = watched(this.#db, () => this.#db.prepare(`SELECT * FROM group_messages ${rest}`).all(...values));
    return rows.map((row) => ({
      id: row.id as string,
      group: row.path as string,
      role: row.role as GroupMessageRecord["role"],
      from: principalOf(row.sender as string),
      text: row.text as string,
      thread: row.thread as string,
      replyTo: row.reply_to as string | null,
      at: row.at as string,
    }));
  }
}
