import { formatCursor, type SessionId } from "@holdfast/contract";
import type { Doctor } from "../doctor/doctor.ts";
import type { Backups } from "../journal/backups.ts";
import type { EventFilter, Journal } from "../journal/journal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Orphans } from "../session/orphans.ts";
import type { Pruning } from "../session/pruning.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Handlers } from "./bind.ts";
import { eventsFrom, startOf } from "./events.ts";

export interface Control {
  status: Handlers["status"];
  shutdown: Handlers["shutdown"];
  restoreBackup: Handlers["restoreBackup"];
}

export function handlers(rooms: {
  sessions: Sessions;
  orphans: Orphans;
  doctor: Doctor;
  journal: Journal;
  backups: Backups;
  queries: SessionQueries;
  pruning: Pruning;
  diskUse: Handlers["diskUse"];
  listAgents: Handlers["listAgents"];
  control: Control;
}): Handlers {
  const { sessions, orphans, doctor, journal, backups, queries, pruning, diskUse, listAgents, control } = rooms;
  /** A removed session has no record, but its events can still be asked for by its id. */
  const filterOf = (query: { session?: string | undefined; type?: string[] | undefined }): EventFilter => ({
    session: query.session === undefined ? undefined : sessionId(query.session),
    types: query.type,
  });
  const sessionId = (ref: string): SessionId => {
    const known = journal.readAfter(0, 1, { session: ref as SessionId }).length > 0;
    return known ? (ref as SessionId) : queries.resolve(ref).id;
  };

  return {
    ...control,
    listSessions: ({ query }) => sessions.list(query),
    spawn: ({ body }, { actor }) => sessions.spawn(body, actor),
    getSession: ({ params }) => sessions.get(params.ref),
    renameSession: ({ params, body }, { actor }) => sessions.rename(params.ref, { name: body.name, actor }),
    removeSession: ({ params }, { actor }) => sessions.remove(params.ref, actor),
    stopSession: ({ params, body }, { actor }) => sessions.stop(params.ref, { graceMs: body.graceMs, actor }),
    attachSession: ({ params, body }) => sessions.attach(params.ref, body),
    detachSession: ({ params }) => sessions.detach(params.ref),
    sendText: ({ params, body }) => sessions.send(params.ref, body),
    pressKeys: ({ params, body }) => sessions.press(params.ref, body.keys),
    getScreen: ({ params }) => sessions.screen(params.ref),
    getRecording: ({ params, query }) => sessions.recording(params.ref, query),
    listTimes: ({ params, query }) => sessions.times(params.ref, query),
    readOutput: ({ params, query }, { signal }) =>
      sessions.output(params.ref, { run: query.run, from: query.from, follow: query.follow, signal }),
    viewSession: ({ params }, { actor }) => sessions.view(params.ref, actor),
    prune: ({ body }, { actor }) => pruning.ask(body, actor),
    diskUse,
    listAgents,
    listOrphans: async () => ({ orphans: await orphans.list() }),
    adoptOrphan: async ({ params }, { actor }) => sessions.get(await orphans.adopt(params.id, actor)),
    stopOrphan: ({ params, body }) => orphans.stop(params.id, body.graceMs),
    examine: async ({ body }) => ({ findings: await doctor.examine(body) }),
    listBackups: () => ({ backups: backups.list() }),
    createBackup: () => backups.create("asked"),
    listEvents: ({ query }) => {
      const seq = startOf(journal, query.after);
      const filter = filterOf(query);
      const end = journal.cursor;
      const events = journal.readAfter(seq, query.limit + 1, filter);
      const more = events.length > query.limit;
      if (more) events.length = query.limit;
      return { cursor: formatCursor(more ? (events.at(-1) ?? { epoch: end.epoch, seq }) : end), events, more };
    },
    followEvents: ({ query }, { signal }) => eventsFrom(journal, { seq: startOf(journal, query.after), filter: filterOf(query), signal }),
  };
}
