/**
 * The operations on groups. Each is one transaction: creating a group, joining it and choosing its coordinator are never separate. Each decides
 * without a pause between reading and writing, so no two callers decide on the same state.
 */
import {
  checkGroup,
  type Group,
  type GroupMember,
  HoldfastError,
  lineOf,
  type Peer,
  type Principal,
  type SessionId,
} from "@holdfast/contract";
import { counted } from "@holdfast/platform";
import type { Draft, Journal } from "../journal/journal.ts";
import type { GroupQueries, GroupRecord } from "../projection/group-queries.ts";
import type { SessionQueries } from "../projection/session-queries.ts";

/** A joining session; one that is being started has no record yet. */
type Joining = Pick<GroupMember, "session" | "ended">;

export class Groups {
  readonly queries: GroupQueries;
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  /** The default limit of members. */
  readonly limit: number;
  readonly #keep: (session: SessionId, groups: string[]) => void;

  /** `keep` stores a session's groups outside the journal, in case the journal is lost. */
  constructor(options: {
    journal: Journal;
    queries: GroupQueries;
    sessions: SessionQueries;
    limit: number;
    keep(session: SessionId, groups: string[]): void;
  }) {
    this.#keep = options.keep;
    this.#journal = options.journal;
    this.queries = options.queries;
    this.#sessions = options.sessions;
    this.limit = options.limit;
  }

  list(): Group[] {
    return this.queries.list().map((record) => this.#view(record));
  }

  get(path: string): Group {
    return this.#view(this.queries.find(path));
  }

  /** `first`: the session that creates the group. */
  create(
    input: string,
    how: { limit?: number | undefined; goal?: string | undefined; actor: Principal; first?: SessionId | undefined },
  ): Group {
    const path = checkGroup(input);
    if (this.queries.has(path)) {
      throw new HoldfastError("group_exists", `the group ${path} already exists`, {
        hint: `see its members: holdfast group show ${path}; change its limit: holdfast group limit ${path} N`,
      });
    }
    const { limit = null, goal, actor, first } = how;
    const members = first === undefined ? [] : this.#joiningOf([first]);
    this.#journal.append(...this.#making(path, { limit, goal, actor }), ...this.#joinDrafts(path, members, { actor, limit }));
    this.#keepAll(members);
    return this.get(path);
  }

  setLimit(path: string, limit: number | null, actor: Principal): Group {
    const record = this.queries.find(path);
    if (record.limit !== limit)
      this.#journal.append({ type: "group.limit_changed", actor, session: null, data: { group: record.path, limit } });
    return this.get(record.path);
  }

  /** False: the goal was already set. */
  setGoal(path: string, goal: string | null, actor: Principal): boolean {
    const record = this.queries.find(path);
    if (record.goal === goal) return false;
    this.#journal.append({ type: "group.goal_changed", actor, session: null, data: { group: record.path, goal } });
    return true;
  }

  /** All sessions join, or none; existing members stay unchanged. `joined`: the names of the new members. */
  join(input: string, sessions: readonly SessionId[], { actor }: { actor: Principal }): Group & { joined: string[] } {
    const path = checkGroup(input);
    const members = this.#joiningOf(sessions.filter((session) => !this.queries.isMember(path, session)));
    const drafts = [...this.#making(path, { limit: null, actor }), ...this.#joinDrafts(path, members, { actor })];
    if (drafts.length > 0) this.#journal.append(...drafts);
    this.#keepAll(members);
    return { ...this.get(path), joined: members.flatMap(({ session }) => this.#sessions.get(session)?.name ?? []) };
  }

  /** The normalized paths; throws if one more member would be refused. */
  check(groups: readonly string[]): string[] {
    const paths = [...new Set(groups.map(checkGroup))];
    for (const path of paths) this.#checkRoom(path, 1, this.queries.get(path)?.limit ?? null);
    return paths;
  }

  /** The events of a new session's joining. `maker`: the session that starts it becomes the first member of groups created by that. */
  joining(session: SessionId, groups: readonly string[], { actor, maker }: { actor: Principal; maker: SessionId | null }): Draft[] {
    const made = new Set<string>();
    return groups.flatMap((path) => {
      const isNew = !this.queries.has(path);
      const making = this.#making(path, { limit: null, actor }).filter(({ data }) => !made.has(data.group));
      for (const { data } of making) made.add(data.group);
      const members = [...(isNew && maker !== null ? this.#joiningOf([maker]) : []), { session, ended: false }];
      return [...making, ...this.#joinDrafts(path, members, { actor })];
    });
  }

  leave(path: string, session: SessionId, actor: Principal): Group {
    const record = this.queries.find(path);
    const member = this.#member(record, session);
    const wasCoordinator = this.queries.lastCoordinator(record.path) === session;
    const next = record.members.find((other) => other.session !== session && !other.ended);
    this.#journal.append(
      { type: "group.left", actor, session, data: { group: record.path } },
      ...(wasCoordinator ? [handOver(record.path, { from: member.session, to: next?.session ?? null, why: "left", actor })] : []),
    );
    this.#keepAll([member]);
    return this.get(record.path);
  }

  setCoordinator(path: string, session: SessionId, actor: Principal): Group {
    const record = this.queries.find(path);
    const { name, ended, coordinator } = this.#member(record, session);
    if (ended) {
      throw new HoldfastError("session_ended", `${name} has ended and cannot coordinate the group`, {
        hint: `start it again first: holdfast resume ${name}`,
      });
    }
    const from = this.queries.lastCoordinator(record.path);
    if (!coordinator) this.#journal.append(handOver(record.path, { from, to: session, why: "asked", actor }));
    return this.get(record.path);
  }

  /** Removes a group with its subgroups, and returns their paths, deepest first. */
  remove(path: string, { force, actor }: { force: boolean; actor: Principal }): string[] {
    const record = this.queries.find(path);
    const below = this.queries.below(record.path);
    const alive = this.queries.membersBelow(record.path).filter(({ ended }) => !ended);
    if (!force && (below.length > 0 || alive.length > 0)) {
      const what =
        below.length > 0
          ? `${below.join(", ")} ${below.length === 1 ? "is" : "are"} in it`
          : `${namesOf(alive)} ${alive.length === 1 ? "is" : "are"} in it and alive`;
      throw new HoldfastError("group_in_use", `the group ${record.path} is in use: ${what}`, {
        hint: `remove it with its values and subgroups: holdfast group rm --force ${record.path}; sessions keep running`,
      });
    }
    const paths = [...below.reverse(), record.path];
    const { revision } = record;
    const members = this.queries.membersBelow(record.path);
    this.#journal.append(...paths.map((group): Draft => ({ type: "group.removed", actor, session: null, data: { group, revision } })));
    this.#keepAll(members);
    return paths;
  }

  peers(session: SessionId): Peer[] {
    return this.peersIn(this.queries.of(session), session);
  }

  /** The members of these groups and of those above and below them, without the session itself. */
  peersIn(groups: readonly string[], session: SessionId | null): Peer[] {
    return this.queries.peersIn(groups, session).map(({ joinedAt: _, ...peer }) => {
      const { role = null, objective = null } = this.#sessions.get(peer.session) ?? {};
      return { ...peer, role, objective };
    });
  }

  /** Finds a member by its name, its id or an id prefix. */
  memberOf(path: string, ref: string): SessionId {
    const { members } = this.queries.find(path);
    const name = ref.normalize("NFC");
    const found = members.find((member) => member.name === name) ?? members.find(({ session }) => session === ref);
    return found?.session ?? this.#sessions.resolve(ref).id;
  }

  #member({ path, members }: GroupRecord, session: SessionId): GroupMember {
    const found = members.find((member) => member.session === session);
    if (found) return found;
    const name = this.#sessions.get(session)?.name ?? session;
    throw new HoldfastError("not_a_member", `${name} is not in the group ${path}`, {
      hint: `add it: holdfast group join ${path} ${name}; see the members: holdfast group show ${path}`,
    });
  }

  #keepAll(members: readonly Pick<GroupMember, "session">[]): void {
    for (const { session } of members) this.#keep(session, this.queries.of(session));
  }

  #joiningOf(sessions: readonly SessionId[]): Joining[] {
    const records = [...new Set(sessions)].flatMap((id) => this.#sessions.get(id) ?? []);
    return records.map(({ id, endedAt, restartAt }) => ({ session: id, ended: endedAt !== null && restartAt === null }));
  }

  /** Events that create the group and its missing parents, topmost first. */
  #making(
    path: string,
    { limit, goal, actor }: { limit: number | null; goal?: string | undefined; actor: Principal },
  ): Extract<Draft, { type: "group.created" }>[] {
    const missing = lineOf(path).filter((each) => !this.queries.has(each));
    const own = { limit, ...(goal === undefined ? {} : { goal }) };
    return missing
      .reverse()
      .map((group) => ({ type: "group.created", actor, session: null, data: { group, ...(group === path ? own : { limit: null }) } }));
  }

  #joinDrafts(path: string, joining: readonly Joining[], { actor, limit }: { actor: Principal; limit?: number | null }): Draft[] {
    if (joining.length === 0) return [];
    this.#checkRoom(path, joining.length, limit ?? this.queries.get(path)?.limit ?? null);
    const first = [...this.queries.members(path), ...joining].find(({ ended }) => !ended);
    const from = this.queries.lastCoordinator(path);
    const isLed = this.queries.coordinator(path) !== null;
    return [
      ...joining.map(({ session }): Draft => ({ type: "group.joined", actor, session, data: { group: path } })),
      ...(isLed || !first ? [] : [handOver(path, { from, to: first.session, why: "first", actor })]),
    ];
  }

  #checkRoom(path: string, more: number, own: number | null): void {
    const limit = own ?? this.limit;
    const members = this.queries.members(path);
    if (members.length + more <= limit) return;
    const ended = members.filter((member) => member.ended);
    const has = members.length === 0 ? "" : `${counted(members.length, "member")} and `;
    throw new HoldfastError(
      "group_full",
      `the group ${path} has ${has}a limit of ${limit}: ${more} more ${more === 1 ? "does" : "do"} not fit`,
      {
        hint:
          ended.length > 0
            ? `remove ended members: holdfast group leave ${path} ${namesOf(ended, " ")}; or raise the limit: holdfast group limit ${path} ${limit * 2}`
            : `raise the limit: holdfast group ${this.queries.has(path) ? `limit ${path}` : `create ${path} --limit`} ${Math.max(limit * 2, members.length + more)}`,
      },
    );
  }

  #view({ limit, ...record }: GroupRecord): Group {
    const coordinator = record.members.find((member) => member.coordinator);
    return {
      ...record,
      limit: limit ?? this.limit,
      coordinator: coordinator ? { session: coordinator.session, name: coordinator.name } : null,
      state: coordinator?.status ?? null,
    };
  }
}

export function handOver(
  group: string,
  { from, to, why, actor }: { from: SessionId | null; to: SessionId | null; why: "first" | "asked" | "ended" | "left"; actor: Principal },
): Draft {
  return { type: "group.coordinator_changed", actor, session: to, data: { group, coordinator: to, from, why } };
}

const MOST_NAMES = 5;

function namesOf(members: readonly GroupMember[], between = ", "): string {
  const names = members.slice(0, MOST_NAMES).map(({ name }) => name);
  return `${names.join(between)}${members.length > MOST_NAMES ? `${between}…` : ""}`;
}
