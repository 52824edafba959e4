import { HoldfastError, hasEnded } from "@holdfast/contract";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Handlers } from "./bind.ts";

export type ProgressHandlers = Pick<Handlers, "reportProgress">;

export function progressHandlers(rooms: { journal: Journal; queries: SessionQueries; sessions: Sessions }): ProgressHandlers {
  const { journal, queries, sessions } = rooms;
  return {
    reportProgress: ({ params, body: { text, done = null, total = null } }, { actor }) => {
      const { id, name, status } = queries.resolve(params.ref);
      if (hasEnded(status)) throw new HoldfastError("session_ended", `${name} has ended and cannot report progress`);
      journal.append({ type: "session.progress_reported", actor, session: id, data: { text, done, total } });
      return sessions.brief(id);
    },
  };
}
