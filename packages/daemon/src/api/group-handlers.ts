import { type Principal, type SessionId, type Sums, sessionOf } from "@holdfast/contract";
import { statsOf } from "../group/group-stats.ts";
import type { Groups } from "../group/groups.ts";
import type { GroupReach } from "../group/reach.ts";
import type { SharedValues } from "../group/shared-values.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";

export type GroupHandlers = Pick<
  Handlers,
  | "listGroups"
  | "createGroup"
  | "getGroup"
  | "changeGroup"
  | "removeGroup"
  | "joinGroup"
  | "leaveGroup"
  | "listPeers"
  | "setCoordinator"
  | "groupStats"
  | "listValues"
  | "getValue"
  | "shareValue"
  | "unsetValue"
  | "watchValues"
>;

/** The client repeats its request, because some proxies drop a connection that is silent for longer. */
const LONGEST_WAIT_MS = 60_000;

export function groupHandlers(rooms: {
  groups: Groups;
  values: SharedValues;
  reach: GroupReach;
  sessions: SessionQueries;
  gate: Gate;
  spent(sessions: readonly SessionId[]): Sums;
  /** Sends the goal to the group's members, or only to these. */
  tellGoal(goal: { group: string; goal: string; actor: Principal; to?: readonly SessionId[] }): void;
}): GroupHandlers {
  const { groups, values, reach: may, sessions, gate, spent, tellGoal } = rooms;
  const join = (path: string, ids: readonly SessionId[], actor: Principal) => {
    const before = new Set(groups.queries.has(path) ? groups.queries.members(path).map(({ session }) => session) : []);
    const group = groups.join(path, ids, { actor });
    const to = ids.filter((id) => !before.has(id) && `session:${id}` !== actor);
    const author = groups.queries.goalBy(group.path);
    // A goal set by a session stays that session's, even if a person adds a member: as the person's, it would be an order of the user.
    const from = author !== null && sessionOf(author) !== undefined ? author : actor;
    if (group.goal !== null && to.length > 0) tellGoal({ group: group.path, goal: group.goal, actor: from, to });
    return group;
  };
  return {
    listGroups: (_, { reach }) => ({
      groups: groups.list().filter(({ path }) => reach === undefined || may.sees(reach, path)),
      limit: groups.limit,
    }),
    createGroup: ({ body: { path, limit, goal } }, { actor, reach }) => {
      may.checkJoin(reach, path, "createGroup");
      return groups.create(path, { limit, goal, actor, first: reach });
    },
    getGroup: ({ params }, { reach }) => {
      may.checkRead(reach, params.group, "getGroup");
      return groups.get(params.group);
    },
    changeGroup: ({ params, body }, { actor, reach }) => {
      may.checkWrite(reach, params.group, "changeGroup");
      const { limit, goal } = body;
      if (limit !== undefined) groups.setLimit(params.group, limit, actor);
      if (goal !== undefined && groups.setGoal(params.group, goal, actor) && goal !== null)
        tellGoal({ group: groups.get(params.group).path, goal, actor });
      return groups.get(params.group);
    },
    removeGroup: ({ params, query }, { actor, reach }) => {
      may.checkWrite(reach, params.group, "removeGroup");
      may.checkAlone(reach, params.group, "removeGroup");
      return { removed: groups.remove(params.group, { ...query, actor }) };
    },
    joinGroup: ({ params, body }, { actor, reach }) => {
      const path = params.group;
      if (reach === undefined)
        return join(
          path,
          body.sessions.map((ref) => sessions.resolve(ref).id),
          actor,
        );
      may.checkJoin(reach, path, "joinGroup");
      const own = body.sessions.map((ref) => gate.resolve(reach, "joinGroup", ref));
      // The session that creates a group is a member of it.
      return join(path, groups.queries.has(path.normalize("NFC")) ? own : [reach, ...own], actor);
    },
    leaveGroup: ({ params }, { actor, reach }) => {
      may.checkWrite(reach, params.group, "leaveGroup");
      const id = reach === undefined ? sessions.resolve(params.ref).id : gate.resolve(reach, "leaveGroup", params.ref);
      return groups.leave(params.group, id, actor);
    },
    listPeers: ({ params }) => ({ peers: groups.peers(sessions.resolve(params.ref).id) }),
    setCoordinator: ({ params, body }, { actor, reach }) => {
      may.checkWrite(reach, params.group, "setCoordinator");
      const { members } = groups.get(params.group);
      // A session knows its peers, whoever started them.
      const peers = members.map(({ session }) => session);
      const to =
        reach === undefined ? groups.memberOf(params.group, body.session) : gate.resolve(reach, "setCoordinator", body.session, peers);
      return groups.setCoordinator(params.group, to, actor);
    },
    groupStats: ({ params }, { reach }) => {
      may.checkRead(reach, params.group, "groupStats");
      return statsOf(params.group, { queries: groups.queries, sessions, spent });
    },
    listValues: ({ params }, { reach }) => {
      may.checkRead(reach, params.group, "listValues");
      return values.list(params.group);
    },
    getValue: ({ params }, { reach }) => {
      may.checkRead(reach, params.group, "getValue");
      return values.get(params.group, params.key);
    },
    shareValue: ({ params, body }, { actor, reach }) => {
      may.checkWrite(reach, params.group, "shareValue");
      return values.share(params.group, params.key, { ...body, actor });
    },
    unsetValue: ({ params, query }, { actor, reach }) => {
      may.checkWrite(reach, params.group, "unsetValue");
      return values.unset(params.group, params.key, { ...query, actor });
    },
    watchValues: ({ params, query: { after, waitMs } }, { reach, signal }) => {
      may.checkRead(reach, params.group, "watchValues");
      const until = AbortSignal.any([signal, AbortSignal.timeout(Math.min(waitMs, LONGEST_WAIT_MS))]);
      return values.watch(params.group, { after, signal: until });
    },
  };
}
