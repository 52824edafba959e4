import type { EndpointName, SessionId } from "@holdfast/contract";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { readableName } from "../session/run/readable-name.ts";
import type { Checkpoints } from "../workspace/checkpoint/workspace-checkpoints.ts";
import { diffOf } from "../workspace/diff.ts";
import type { Workspaces } from "../workspace/workspaces.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";
import { findWorkspace, reachesWorkspace } from "./workspace-reach.ts";

export type WorkspaceHandlers = Pick<
  Handlers,
  | "listWorkspaces"
  | "createWorkspace"
  | "getWorkspace"
  | "diffWorkspace"
  | "listCheckpoints"
  | "createCheckpoint"
  | "diffCheckpoints"
  | "rewindWorkspace"
>;

export function workspaceHandlers(rooms: {
  workspaces: Workspaces;
  checkpoints: Checkpoints;
  queries: SessionQueries;
  gate: Gate;
  /** Updates the conflicts to the latest commits before they are reported, including those made just now. */
  lookForConflicts(): Promise<void>;
}): WorkspaceHandlers {
  const { workspaces, checkpoints, lookForConflicts } = rooms;
  const { reaches, find } = workspaceFinder(rooms);

  return {
    listWorkspaces: async ({ query }, { reach }) => {
      await lookForConflicts();
      const all = await workspaces.list(query);
      const own = (id: (typeof all)[number]["id"]) => reach === undefined || reaches(reach, workspaces.queries.resolve(id, { all: true }));
      return { workspaces: all.filter(({ id }) => own(id)) };
    },
    createWorkspace: async ({ body }, { actor }) => {
      const name = body.name ?? readableName((taken) => workspaces.queries.byName(taken) !== undefined);
      return workspaces.createAndView({ ...body, name }, actor);
    },
    getWorkspace: async ({ params }, { reach }) => {
      await lookForConflicts();
      return workspaces.view(find(params.ref, reach, "getWorkspace"));
    },
    diffWorkspace: ({ params, query }, { reach }) => diffOf(find(params.ref, reach, "diffWorkspace"), query),
    listCheckpoints: async ({ params, query }, { reach }) => {
      const record = find(params.ref, reach, "listCheckpoints");
      return { workspace: record.name, ...(await checkpoints.list(record, query)) };
    },
    createCheckpoint: ({ params, body }, { actor, reach }) =>
      checkpoints.create(find(params.ref, reach, "createCheckpoint"), { why: "asked", note: body.note ?? null, actor }),
    diffCheckpoints: ({ params, query }, { reach }) => checkpoints.diff(find(params.ref, reach, "diffCheckpoints"), query),
    rewindWorkspace: async ({ params, body }, { actor, reach }) => {
      const record = find(params.ref, reach, "rewindWorkspace");
      return { workspace: record.name, ...(await checkpoints.rewind(record, { ...body, actor })), filesOnly: body.filesOnly };
    },
  };
}

/** Finds the named workspace and checks the caller's reach. */
export function workspaceFinder({ workspaces, queries, gate }: { workspaces: Workspaces; queries: SessionQueries; gate: Gate }) {
  const tables = { workspaces: workspaces.queries, sessions: queries };
  const reaches = (reach: SessionId, record: WorkspaceRecord): boolean => reachesWorkspace(tables, reach, record);
  const find = (ref: string, reach: SessionId | undefined, name: EndpointName): WorkspaceRecord =>
    reach === undefined ? findWorkspace(tables, ref) : gate.resolveWorkspace(reach, name, ref);
  return { reaches, find };
}
