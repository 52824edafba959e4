/** Queries on groups, their members and shared values. A group's path determines the groups above and below it. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  type GroupMember,
  HoldfastError,
  isBelow,
  lineOf,
  type MessageState,
  type Principal,
  parentOf,
  principalOf,
  type SessionId,
  type SessionStatus,
  sessionId,
  treeOf,
} from "@holdfast/contract";
import { editDistance } from "@holdfast/platform";
import { watched } from "../journal/database.ts";
import { LIVE } from "./session-queries.ts";

export interface GroupRecord {
  path: string;
  parent: string | null;
  children: string[];
  members: GroupMember[];
  /** Null: the configured limit. */
  limit: number | null;
  goal: string | null;
  keys: number;
  revision: number;
  createdAt: string;
  createdBy: Principal;
}

/** `value` is JSON text; null if it was unset. */
export interface ValueRecord {
  group: string;
  key: string;
  value: string | null;
  revision: number;
  author: Principal;
  at: string;
}

/** A session counts as ended only if no further run is due. */
const ALIVE = `(s.status IN ${LIVE} OR s.restart_at IS NOT NULL)`;

const CANDIDATES = 10;

export class GroupQueries {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  paths(): string[] {
    return this.#all("SELECT path FROM groups ORDER BY path").map(({ path }) => String(path));
  }

  has(path: string): boolean {
    return this.#all("SELECT 1 FROM groups WHERE path = ?", path).length > 0;
  }

  get(path: string): GroupRecord | undefined {
    const [row] = this.#all("SELECT * FROM groups WHERE path = ?", path);
    return row && this.#record(row, this.below(path));
  }

  /** Sorted by path. */
  list(): GroupRecord[] {
    const paths = this.paths();
    return this.#all("SELECT * FROM groups ORDER BY path").map((row) => this.#record(row, paths));
  }

  /** Throws `group_not_found`. */
  find(input: string): GroupRecord {
    const found = this.get(input.normalize("NFC"));
    if (found) return found;
    throw this.#notFound(input);
  }

  /** Returns the group's path. Throws `group_not_found`. */
  resolve(input: string): string {
    const path = input.normalize("NFC");
    if (this.has(path)) return path;
    throw this.#notFound(input);
  }

  /** Returns the goals of these groups and the groups above, topmost first. */
  goals(paths: readonly string[]): { group: string; goal: string; by: Principal | null }[] {
    const all = [...new Set(paths.flatMap(lineOf))];
    const sql = "SELECT path, goal, goal_by FROM groups WHERE goal IS NOT NULL AND path IN (SELECT value FROM json_each(?)) ORDER BY path";
    return this.#all(sql, JSON.stringify(all)).map((row) => ({
      group: String(row.path),
      goal: String(row.goal),
      by: row.goal_by == null ? null : principalOf(String(row.goal_by)),
    }));
  }

  /** Returns the author of the group's goal; null without a goal. */
  goalBy(path: string): Principal | null {
    const [row] = this.#all("SELECT goal_by FROM groups WHERE path = ?", path);
    return row?.goal_by == null ? null : principalOf(String(row.goal_by));
  }

  /** Returns the groups inside it, at any depth. */
  below(path: string): string[] {
    return this.paths().filter((each) => isBelow(each, path));
  }

  /** Returns the members of this group only, longest-standing first. */
  members(path: string): GroupMember[] {
    const sql = `SELECT m.*, s.name, s.agent, s.status, ${ALIVE} AS alive FROM group_members m JOIN sessions s ON s.id = m.session
                 WHERE m.path = ? ORDER BY m.joined_seq`;
    return this.#all(sql, path).map((row) => ({
      session: sessionId(row.session as string),
      name: String(row.name),
      agent: String(row.agent),
      status: row.status as SessionStatus,
      ended: row.alive === 0,
      joinedAt: String(row.joined_at),
      coordinator: row.coordinator === 1 && row.alive === 1,
    }));
  }

  /** Returns the members of the group and all groups inside it, each once. */
  membersBelow(path: string): GroupMember[] {
    const all = [path, ...this.below(path)].flatMap((each) => this.members(each));
    return [...new Map(all.map((member) => [member.session, member])).values()];
  }

  isMember(path: string, session: SessionId): boolean {
    return this.#all("SELECT 1 FROM group_members WHERE path = ? AND session = ?", path, session).length > 0;
  }

  /** Returns the groups of a session, longest-standing first. */
  of(session: SessionId): string[] {
    return this.#all("SELECT path FROM group_members WHERE session = ? ORDER BY joined_seq", session).map(({ path }) => String(path));
  }

  /** Returns the coordinator; null if none is alive. */
  coordinator(path: string): GroupMember | null {
    return this.members(path).find(({ coordinator }) => coordinator) ?? null;
  }

  /** Returns the last appointed coordinator if it is still a member. It may have ended since. */
  lastCoordinator(path: string): SessionId | null {
    const [row] = this.#all("SELECT session FROM group_members WHERE path = ? AND coordinator = 1", path);
    return row ? sessionId(String(row.session)) : null;
  }

  /** Returns the members of these groups and the groups above and below, each with its groups. */
  peersIn(own: readonly string[], session: SessionId | null): (GroupMember & { groups: string[] })[] {
    const near = this.paths().filter((path) => own.some((mine) => path === mine || isBelow(path, mine) || isBelow(mine, path)));
    const peers = new Map<SessionId, GroupMember & { groups: string[] }>();
    for (const path of near) {
      for (const member of this.members(path).filter((each) => each.session !== session)) {
        const { groups = [], coordinator = false } = peers.get(member.session) ?? {};
        const leads = member.coordinator && own.includes(path);
        peers.set(member.session, { ...member, groups: [...groups, path], coordinator: coordinator || leads });
      }
    }
    return [...peers.values()];
  }

  arePeers(one: SessionId, other: SessionId): boolean {
    return this.peersIn(this.of(one), one).some(({ session }) => session === other);
  }

  /** Returns groups whose coordinator has ended, or that have none although a member is alive. */
  withoutCoordinator(): string[] {
    const sql = `SELECT m.path FROM group_members m JOIN sessions s ON s.id = m.session GROUP BY m.path
                 HAVING sum(m.coordinator AND ${ALIVE}) = 0 AND (sum(${ALIVE}) > 0 OR sum(m.coordinator) > 0)`;
    return this.#all(sql).map(({ path }) => String(path));
  }

  /** Returns the group's own value, even if unset. */
  value(path: string, key: string): ValueRecord | undefined {
    return this.#all("SELECT * FROM group_values WHERE path = ? AND key = ?", path, key).map(toValue)[0];
  }

  /** Returns the group's own value, or that of the nearest group above. */
  visible(path: string, key: string): ValueRecord | undefined {
    for (const each of lineOf(path)) {
      const found = this.value(each, key);
      if (found && found.value !== null) return found;
    }
    return undefined;
  }

  /** Lists the keys of the group and the groups above, nearest first for each key, without values. */
  keys(path: string): (Omit<ValueRecord, "value"> & { bytes: number })[] {
    const sql = `SELECT path, key, NULL AS value, revision, author, at, octet_length(value) AS bytes FROM group_values
                 WHERE path IN (SELECT value FROM json_each(?)) AND value IS NOT NULL ORDER BY key, length(path) DESC`;
    return this.#all(sql, JSON.stringify(lineOf(path))).map((row) => {
      const { value: _, ...record } = toValue(row);
      return { ...record, bytes: Number(row.bytes) };
    });
  }

  keyCount(path: string): number {
    return Number(this.#all("SELECT count(*) AS n FROM group_values WHERE path = ? AND value IS NOT NULL", path)[0]?.n);
  }

  /** Returns the revision of the last change in its tree; 0 if there was none. */
  revision(path: string): number {
    return Number(this.#all("SELECT revision FROM group_revisions WHERE tree = ?", treeOf(path))[0]?.revision ?? 0);
  }

  /** Returns changes after the revision in the group and the groups above, in order. */
  changesAfter(path: string, revision: number): ValueRecord[] {
    const sql = "SELECT * FROM group_values WHERE path IN (SELECT value FROM json_each(?)) AND revision > ? ORDER BY revision";
    return this.#all(sql, JSON.stringify(lineOf(path)), revision).map(toValue);
  }

  /** Returns state and reply time of messages among these sessions and to these groups. */
  messagesAmong(sessions: readonly SessionId[], paths: readonly string[]): { state: MessageState; replyMs: number | null }[] {
    const sql = `SELECT state, CASE state WHEN 'replied' THEN (julianday(ended_at) - julianday(queued_at)) * 86400000 END AS ms FROM messages
                 WHERE group_path IN (SELECT value FROM json_each(?2))
                 OR (session IN (SELECT value FROM json_each(?1)) AND substr(sender, 9) IN (SELECT value FROM json_each(?1)) AND sender LIKE 'session:%')`;
    return this.#all(sql, JSON.stringify(sessions), JSON.stringify(paths)).map((row) => ({
      state: row.state as MessageState,
      replyMs: row.ms === null ? null : Math.max(0, Number(row.ms)),
    }));
  }

  #notFound(input: string): HoldfastError {
    const paths = this.paths();
    const alike = paths.filter((path) => isAlike(path, input));
    return new HoldfastError("group_not_found", `there is no group ${JSON.stringify(input)}`, {
      hint:
        paths.length === 0 ? "there are no groups yet; create one: holdfast group join GROUP SESSION" : "list groups: holdfast group ls",
      candidates: (alike.length > 0 ? alike : paths).slice(0, CANDIDATES),
    });
  }

  #record(row: Record<string, unknown>, paths: readonly string[]): GroupRecord {
    const path = String(row.path);
    return {
      path,
      parent: parentOf(path),
      children: paths.filter((each) => parentOf(each) === path),
      members: this.members(path),
      limit: row.member_limit as number | null,
      goal: row.goal as string | null,
      keys: this.keyCount(path),
      revision: this.revision(path),
      createdAt: String(row.created_at),
      createdBy: principalOf(row.created_by as string),
    };
  }

  #all(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
    return watched(this.#db, () => {
      const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    });
  }
}

function toValue(row: Record<string, unknown>): ValueRecord {
  return {
    group: String(row.path),
    key: String(row.key),
    value: row.value as string | null,
    revision: Number(row.revision),
    author: principalOf(row.author as string),
    at: String(row.at),
  };
}

function isAlike(path: string, input: string): boolean {
  const [a, b] = [path.toLowerCase(), input.toLowerCase()];
  return b.length > 1 && (a.includes(b) || b.includes(a) || editDistance(a, b) <= 2);
}
