/**
 * Groups, their members and shared values, derived from `group.*` events. A membership is removed with its session; the coordinator is a mark on a
 * membership, so it disappears with it. An unset value leaves its revision for watchers. Events that rows depend on are never pruned; for values,
 * only the last change of each key counts (`journal/prune.ts`).
 */
import type { DatabaseSync } from "node:sqlite";
import { type HoldfastEvent, treeOf } from "@holdfast/contract";
import type { Projection } from "../journal/journal.ts";
import { insertRow } from "./sessions.ts";

export const groupsProjection: Projection = {
  tables: ["groups", "group_members", "group_values", "group_revisions"],
  kept: [
    "group.created",
    "group.limit_changed",
    "group.goal_changed",
    "group.removed",
    "group.coordinator_changed",
    "group.value_shared",
    "group.value_unset",
    "journal.restored",
  ],
  apply(db, event) {
    const apply = APPLY[event.type] as ((db: DatabaseSync, e: HoldfastEvent) => void) | undefined;
    apply?.(db, event);
  },
};

/**
 * A restored journal may have lost revisions that somebody has read. They must not be reused for other values. More than are written between two
 * backups.
 */
const LOST_REVISIONS = 1_000_000;

type Apply = { [T in HoldfastEvent["type"]]?: (db: DatabaseSync, event: Extract<HoldfastEvent, { type: T }>) => void };

const APPLY: Apply = {
  "group.created"(db, { data, actor, at }) {
    const sql = "INSERT OR IGNORE INTO groups (path, member_limit, goal, goal_by, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?)";
    db.prepare(sql).run(data.group, data.limit, data.goal ?? null, data.goal === undefined ? null : actor, at, actor);
  },
  "group.limit_changed"(db, { data }) {
    db.prepare("UPDATE groups SET member_limit = ? WHERE path = ?").run(data.limit, data.group);
  },
  "group.goal_changed"(db, { data, actor }) {
    const by = data.goal === null ? null : actor;
    db.prepare("UPDATE groups SET goal = ?, goal_by = ? WHERE path = ?").run(data.goal, by, data.group);
  },
  "group.removed"(db, { data }) {
    for (const table of ["groups", "group_members", "group_values"]) db.prepare(`DELETE FROM ${table} WHERE path = ?`).run(data.group);
    count(db, data);
  },
  "group.joined"(db, { session, data, seq, at }) {
    const sql = "INSERT OR IGNORE INTO group_members (path, session, joined_seq, joined_at) VALUES (?, ?, ?, ?)";
    db.prepare(sql).run(data.group, session, seq, at);
  },
  "group.left"(db, { session, data }) {
    db.prepare("DELETE FROM group_members WHERE path = ? AND session = ?").run(data.group, session);
  },
  "group.coordinator_changed"(db, { data }) {
    db.prepare("UPDATE group_members SET coordinator = (session IS ?) WHERE path = ?").run(data.coordinator, data.group);
  },
  "group.value_shared"(db, { data, actor, at }) {
    put(db, { ...data, value: JSON.stringify(data.value), author: actor, at });
  },
  "group.value_unset"(db, { data, actor, at }) {
    put(db, { ...data, value: null, author: actor, at });
  },
  "session.removed"(db, { session }) {
    db.prepare("DELETE FROM group_members WHERE session = ?").run(session);
  },
  "session.snapshot"(db, { session, data }) {
    db.prepare("DELETE FROM group_members WHERE session = ?").run(session);
    for (const row of data.memberships ?? []) insertRow(db, "group_members", row);
  },
  "journal.restored"(db) {
    db.prepare("UPDATE group_revisions SET revision = revision + ?").run(LOST_REVISIONS);
  },
};

function put(
  db: DatabaseSync,
  row: { group: string; key: string; value: string | null; revision: number; author: string; at: string },
): void {
  const sql = "INSERT OR REPLACE INTO group_values (path, key, value, revision, author, at) VALUES (?, ?, ?, ?, ?, ?)";
  db.prepare(sql).run(row.group, row.key, row.value, row.revision, row.author, row.at);
  count(db, row);
}

function count(db: DatabaseSync, { group, revision }: { group: string; revision: number }): void {
  const sql = `INSERT INTO group_revisions (tree, revision) VALUES (?, ?)
               ON CONFLICT (tree) DO UPDATE SET revision = max(revision, excluded.revision)`;
  db.prepare(sql).run(treeOf(group), revision);
}
