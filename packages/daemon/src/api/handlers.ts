import { type EndpointName, formatCursor, HoldfastError, SessionId, type SpawnBody, type SpawnRequest } from "@holdfast/contract";
import { auditEntries } from "../access/audit.ts";
import type { Tokens } from "../access/tokens.ts";
import type { Doctor } from "../doctor/doctor.ts";
import type { GroupReach } from "../group/reach.ts";
import { parseRunMarker } from "../host/host.ts";
import type { Backups } from "../journal/backups.ts";
import type { EventFilter, Journal } from "../journal/journal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Adopting } from "../session/adopting.ts";
import type { controlWith } from "../session/attach/driving.ts";
import type { handOverWith } from "../session/attach/hand-over.ts";
import type { RemoteTerminals } from "../session/attach/remote-terminals.ts";
import type { forkWith } from "../session/fork.ts";
import type { Pruning } from "../session/pruning.ts";
import type { Orphans } from "../session/restore/orphans.ts";
import type { Restoring } from "../session/restore/restoring.ts";
import type { Sessions } from "../session/sessions.ts";
import type { ApprovalHandlers } from "./approval-handlers.ts";
import type { Caller, Handlers } from "./bind.ts";
import type { ContextHandlers } from "./context-handlers.ts";
import type { ConversationHandlers } from "./conversation-handlers.ts";
import type { DigestHandlers } from "./digest-handlers.ts";
import { eventsFrom, startOf } from "./events.ts";
import type { Gate } from "./gate.ts";
import type { GroupHandlers } from "./group-handlers.ts";
import type { MessageHandlers } from "./message-handlers.ts";
import type { PersonaHandlers } from "./persona-handlers.ts";
import type { PlanHandlers } from "./plan-handlers.ts";
import type { ProgressHandlers } from "./progress-handlers.ts";
import type { TaskHandlers } from "./task-handlers.ts";
import type { TournamentHandlers } from "./tournament-handlers.ts";
import type { TrustHandlers } from "./trust-handlers.ts";
import type { UsageHandlers } from "./usage-handlers.ts";
import type { WorkspaceEndHandlers } from "./workspace-end-handlers.ts";
import type { WorkspaceHandlers } from "./workspace-handlers.ts";

export interface Control {
  status: Handlers["status"];
  shutdown: Handlers["shutdown"];
  restoreBackup: Handlers["restoreBackup"];
  setListening: Handlers["setListening"];
  setSharing: Handlers["setSharing"];
}

export function handlers(rooms: {
  sessions: Sessions;
  fork: ReturnType<typeof forkWith>;
  messages: MessageHandlers;
  orphans: Orphans;
  adopting: Adopting;
  doctor: Doctor;
  journal: Journal;
  backups: Backups;
  queries: SessionQueries;
  pruning: Pruning;
  restoring: Restoring;
  controlSession: ReturnType<typeof controlWith>;
  handOver: ReturnType<typeof handOverWith>;
  remoteTerminals: RemoteTerminals;
  approvals: ApprovalHandlers;
  progress: ProgressHandlers;
  diskUse: Handlers["diskUse"];
  listAgents: Handlers["listAgents"];
  tokens: Tokens;
  gate: Gate;
  control: Control;
  workspaces: WorkspaceHandlers;
  contexts: ContextHandlers;
  digests: DigestHandlers;
  conversations: ConversationHandlers;
  usage: UsageHandlers;
  groups: GroupHandlers;
  groupReach: GroupReach;
  personas: PersonaHandlers;
  /** The number of unread messages for the caller. */
  unread(who: Pick<Caller, "reach" | "actor">): number;
  /** The default directory and environment of a start: those of the calling session, otherwise the user's home and a minimal environment. */
  usualPlace(reach: SessionId | undefined): Pick<SpawnRequest, "cwd" | "env">;
  /** Completes the request with the settings of its persona. */
  inRole(request: SpawnRequest): Promise<SpawnRequest>;
  tasks: TaskHandlers;
  plans: PlanHandlers;
  trust: TrustHandlers;
  workspaceEnds: WorkspaceEndHandlers;
  tournaments: TournamentHandlers;
}): Handlers {
  const { sessions, orphans, adopting, doctor, journal, backups, queries, pruning, diskUse, listAgents, tokens, gate, control } = rooms;
  /** A session reads only events within its reach, including those of sessions it starts meanwhile. */
  const filterOf = (
    query: { session?: string | undefined; group?: string | undefined; type?: string[] | undefined },
    { reach }: Caller,
    name: EndpointName,
  ): EventFilter => {
    const { session, group, type: types } = query;
    if (session !== undefined && group !== undefined) throw new HoldfastError("usage", "name a session or a group, not both");
    if (group !== undefined) rooms.groupReach.checkWrite(reach, group, name);
    if (group !== undefined) return { group: group.normalize("NFC"), asItIs: reach !== undefined, types };
    if (reach === undefined) return { session: session === undefined ? undefined : sessionId(session), types };
    if (session !== undefined) return { session: gate.resolve(reach, name, session), types };
    return { within: () => queries.descendants(reach), groups: () => rooms.groupReach.of(reach), types };
  };
  /** A removed session has no record, but its events can still be requested by its id. */
  const sessionId = (ref: string): SessionId => {
    const { data: id } = SessionId.safeParse(ref);
    return id && journal.readAfter(0, 1, { session: id }).length > 0 ? id : queries.resolve(ref).id;
  };

  const followed = (query: Parameters<typeof filterOf>[0] & { after?: string | undefined }, caller: Caller, name: EndpointName) =>
    eventsFrom(journal, { seq: startOf(journal, query.after), filter: filterOf(query, caller, name), signal: caller.signal });

  return {
    ...control,
    ...rooms.workspaces,
    ...rooms.contexts,
    ...rooms.digests,
    ...rooms.conversations,
    ...rooms.usage,
    ...rooms.groups,
    ...rooms.personas,
    ...rooms.tasks,
    ...rooms.messages,
    ...rooms.plans,
    ...rooms.trust,
    ...rooms.workspaceEnds,
    ...rooms.tournaments,
    ...rooms.approvals,
    ...rooms.progress,
    listSessions: ({ query }, { reach, actor }) => {
      const unread = rooms.unread({ reach, actor });
      if (reach === undefined) return { ...sessions.list(query), unread };
      const names = query.names?.map((name) => gate.resolve(reach, "listSessions", name));
      return { ...sessions.list({ ...query, names, within: reach }), unread };
    },
    spawn: async ({ body }, { actor, reach }) => {
      const request = { ...rooms.usualPlace(reach), ...given(body) };
      if (reach === undefined) return sessions.spawn(await rooms.inRole(request), { actor });
      const { workspace, cwd, worktree } = request;
      const place = gate.resolvePlace(reach, "spawn", worktree ? { workspace } : { workspace, cwd });
      return sessions.spawn({ ...(await rooms.inRole(request)), workspace: place }, { actor, parent: reach });
    },
    checkSpawn: async ({ body }, { actor }) =>
      sessions.check(await rooms.inRole({ ...rooms.usualPlace(undefined), ...given(body) }), actor),
    getSession: ({ params }) => sessions.get(params.ref),
    renameSession: ({ params, body }, { actor }) => sessions.rename(params.ref, { name: body.name, actor }),
    removeSession: ({ params, query: { tree } }, { actor }) => adopting.remove(params.ref, { actor, tree }),
    resumeSession: ({ params, body }, { actor }) => sessions.resume(params.ref, { ...body, why: "resume", actor }),
    setBudget: ({ params, body }, { actor }) => sessions.setBudget(params.ref, { budget: body, actor }),
    forkSession: ({ params, body }, { actor, reach }) => {
      if (reach === undefined) return rooms.fork(params.ref, body, { actor, parent: null });
      const workspace = gate.resolvePlace(reach, "forkSession", body);
      return rooms.fork(params.ref, { ...body, workspace }, { actor, parent: reach });
    },
    stopSession: async ({ params, body: { graceMs, tree } }, { actor }) =>
      tree
        ? sessions.stopping.tree(params.ref, { graceMs, actor })
        : { ...(await sessions.stopping.stop(params.ref, { graceMs, actor })), tree: [] },
    attachSession: ({ params, body }, { actor, scope, reach }) => {
      // The terminals of `from` move, so it must be within reach too.
      const from = body.from === null ? undefined : parseRunMarker(body.from);
      if (reach !== undefined && from) gate.resolve(reach, "attachSession", from.session);
      // No agent takes control of a terminal from anybody.
      return sessions.terminals.attach(params.ref, { ...body, take: body.take && reach === undefined, actor, scope });
    },
    moveToNext: ({ params, body }) => sessions.terminals.next(params.ref, body),
    detachSession: ({ params }, { actor }) => sessions.terminals.detach(params.ref, actor),
    controlSession: ({ params, body }, { actor, scope }) => rooms.controlSession(params.ref, { ...body, actor, scope }),
    handOverSession: ({ params, body }, { actor, scope }) => rooms.handOver(params.ref, { ...body, actor, scope }),
    openTerminal: ({ params, query }, { actor, scope, reach, isValid, from }) => {
      const { readOnly, take, terminal = null } = query;
      return rooms.remoteTerminals.open(params.ref, { actor, scope, readOnly, take: take && reach === undefined, isValid, terminal, from });
    },
    sendText: ({ params, body }, { actor, scope }) => {
      sessions.terminals.checkTyping(params.ref, { actor, scope });
      return sessions.terminals.send(params.ref, { ...body, actor });
    },
    pressKeys: ({ params, body }, { actor, scope }) => {
      sessions.terminals.checkTyping(params.ref, { actor, scope });
      return sessions.terminals.press(params.ref, { ...body, actor });
    },
    explainSession: ({ params }) => sessions.explain(params.ref),
    getScreen: ({ params }) => sessions.terminals.screen(params.ref),
    getRecording: ({ params, query }) => sessions.recordings.of(params.ref, query),
    listTimes: ({ params, query }) => sessions.recordings.times(params.ref, query),
    readOutput: ({ params, query }, { signal }) => sessions.recordings.output(params.ref, { ...query, signal }),
    viewSession: ({ params }, { actor }) => sessions.view(params.ref, actor),
    listGenerations: () => rooms.restoring.list(),
    restoreSessions: ({ body }, { actor }) => rooms.restoring.run({ ...body, actor }),
    prune: ({ body }, { actor }) => pruning.ask(body, actor),
    diskUse,
    listAgents: ({ query, ...request }, caller) => {
      // An agent searches for other agents on its session's PATH.
      const { PATH: path, HOME: home } = caller.reach !== undefined && query.path === undefined ? rooms.usualPlace(caller.reach).env : {};
      return listAgents(
        { ...request, query: { ...query, ...(path === undefined ? {} : { path }), ...(home === undefined ? {} : { home }) } },
        caller,
      );
    },
    listAdoptable: async () => ({ agents: await adopting.list() }),
    adopt: ({ body }, { actor }) => adopting.adopt(body, actor),
    listOrphans: async () => ({ orphans: await orphans.list() }),
    adoptOrphan: async ({ params }, { actor }) => sessions.get(await orphans.adopt(params.id, actor)),
    stopOrphan: ({ params, body }, { actor }) => orphans.stop(params.id, { ...body, actor }),
    examine: async ({ body }) => ({ findings: await doctor.examine(body) }),
    listBackups: () => ({ backups: backups.list() }),
    createBackup: () => backups.create("asked"),
    listEvents: ({ query }, caller) => {
      const seq = startOf(journal, query.after);
      const filter = filterOf(query, caller, "listEvents");
      const end = journal.cursor;
      const events = journal.readAfter(seq, query.limit + 1, filter);
      const more = events.length > query.limit;
      if (more) events.length = query.limit;
      return { cursor: formatCursor(more ? (events.at(-1) ?? { epoch: end.epoch, seq }) : end), events, more };
    },
    followEvents: ({ query }, caller) => followed(query, caller, "followEvents"),
    socketEvents: ({ query }, caller) => followed(query, caller, "socketEvents"),
    listAudit: ({ query }) => {
      const seq = startOf(journal, query.after);
      const end = journal.cursor;
      const entries = auditEntries(journal, { seq, limit: query.limit + 1, since: query.since, actors: query.actor });
      const more = entries.length > query.limit;
      if (more) entries.length = query.limit;
      return { cursor: formatCursor({ epoch: end.epoch, seq: more ? (entries.at(-1)?.seq ?? seq) : end.seq }), entries, more };
    },
    listTokens: () => ({ tokens: tokens.list() }),
    createToken: ({ body }, { actor }) => tokens.create(body, actor),
    revokeToken: ({ params }, { actor }) => tokens.revoke(params.ref, actor),
  };
}

/** Drops undefined fields. */
function given({ cwd, env, ...request }: SpawnBody) {
  return { ...request, ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }) };
}
