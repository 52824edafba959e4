import type { SessionQueries } from "../projection/session-queries.ts";
import type { Merging } from "../workspace/merge/merging.ts";
import type { collectWith } from "../workspace/removal/collect.ts";
import type { Removing } from "../workspace/removal/removing.ts";
import type { Workspaces } from "../workspace/workspaces.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";
import { workspaceFinder } from "./workspace-handlers.ts";

export type WorkspaceEndHandlers = Pick<
  Handlers,
  "mergeWorkspace" | "openPullRequest" | "removeWorkspace" | "recoverWorkspace" | "collectWorkspaces"
>;

export function workspaceEndHandlers(rooms: {
  workspaces: Workspaces;
  merging: Merging;
  removing: Removing;
  collect: ReturnType<typeof collectWith>;
  queries: SessionQueries;
  gate: Gate;
}): WorkspaceEndHandlers {
  const { workspaces, merging, removing, collect, gate } = rooms;
  const { find } = workspaceFinder(rooms);

  return {
    mergeWorkspace: async ({ params, body }, { actor, reach }) => {
      const record = find(params.ref, reach, "mergeWorkspace");
      const outcome = await merging.merge(record, body, actor);
      return { workspace: await workspaces.get(record.id), ...outcome };
    },
    openPullRequest: async ({ params, body }, { actor, reach }) => {
      const record = find(params.ref, reach, "openPullRequest");
      const outcome = await merging.pullRequest(record, body, actor);
      return { workspace: await workspaces.get(record.id), ...outcome };
    },
    removeWorkspace: async ({ params, body }, { actor, reach }) => {
      const record = find(params.ref, reach, "removeWorkspace");
      const { env, force, dryRun } = body;
      if (reach !== undefined && force) gate.refuseEnding(reach, record);
      const outcome = dryRun
        ? { losses: await removing.losses(record, env), ref: null, notes: [] }
        : await removing.remove(record, { force, why: "asked", actor, env });
      return { workspace: await workspaces.get(record.id), dryRun, ...outcome };
    },
    recoverWorkspace: async ({ params, body }, { actor, reach }) => {
      const record = find(params.ref, reach, "recoverWorkspace");
      const notes = await removing.recover(record, { ...body, actor });
      return { workspace: await workspaces.get(record.id), notes };
    },
    collectWorkspaces: ({ body }, { actor }) => collect({ ...body, actor }),
  };
}
