import { type EndpointName, HoldfastError, type SessionId } from "@holdfast/contract";
import type { KeyedMutex } from "@holdfast/platform";
import { umaskIn } from "@holdfast/platform/git/command";
import { DAEMON, sessionPrincipal } from "../access/principal.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { TournamentRecord } from "../projection/tournaments.ts";
import type { Tournaments } from "../task/tournaments.ts";
import { runCheck } from "../workspace/check.ts";
import type { Workspaces } from "../workspace/workspaces.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";
import { workspaceFinder } from "./workspace-handlers.ts";

export type TournamentHandlers = Pick<Handlers, "startTournament" | "listTournaments" | "getTournament" | "keepEntry" | "checkWorkspace">;

export function tournamentHandlers(rooms: {
  tournaments: Tournaments;
  workspaces: Workspaces;
  queries: SessionQueries;
  gate: Gate;
  journal: Journal;
  mutex: KeyedMutex;
  /** Updates the conflicts to the latest commits before they are reported. */
  lookForConflicts(): Promise<void>;
}): TournamentHandlers {
  const { tournaments, workspaces, queries, gate, journal, mutex, lookForConflicts } = rooms;
  const { find } = workspaceFinder(rooms);

  /** A session reaches the tournaments that it or a descendant started. */
  const reaches = (reach: SessionId | undefined, { owner }: TournamentRecord): boolean =>
    reach === undefined || queries.descendants(reach).some((id) => owner === sessionPrincipal(id));
  const findTournament = (ref: string, reach: SessionId | undefined, name: EndpointName): TournamentRecord => {
    const found = tournaments.find(ref, (record) => reaches(reach, record));
    if (reach !== undefined && !reaches(reach, found))
      throw gate.refuse(reach, name, `the tournament ${ref} does not belong to this session`);
    return found;
  };

  return {
    startTournament: ({ body }, { actor, reach = null }) => tournaments.start(body, { actor, parent: reach }),
    listTournaments: ({ query }, { reach }) => ({
      tournaments: tournaments
        .list(query)
        .filter((record) => reaches(reach, record))
        .map((record) => tournaments.summary(record)),
    }),
    getTournament: async ({ params }, { reach }) => {
      const record = findTournament(params.ref, reach, "getTournament");
      await lookForConflicts();
      return tournaments.view(record);
    },
    keepEntry: ({ params, body }, { actor, reach }) => tournaments.keep(findTournament(params.ref, reach, "keepEntry"), body, actor),
    checkWorkspace: ({ params, body: { command, env } }, { actor, reach, signal }) => {
      const record = find(params.ref, reach, "checkWorkspace");
      const { id } = record;
      if (record.removedAt !== null)
        throw new HoldfastError("workspace_removed", `${record.name} was removed`, {
          hint: `recover it: holdfast workspace recover ${record.name}`,
        });
      return mutex.run(`check ${id}`, async () => {
        journal.append({ type: "workspace.check_started", actor, session: null, data: { id, command } });
        const directory = workspaces.directoryOf(id);
        const check = await runCheck(
          { directory, tree: record.path, command, env: workspaces.commandEnvironment(record, env), umask: umaskIn(record.path, env) },
          signal,
        );
        const { state, exitCode, durationMs } = check;
        journal.append({ type: "workspace.check_ended", actor: DAEMON, session: null, data: { id, command, state, exitCode, durationMs } });
        return check;
      });
    },
  };
}
