/** Chooses where a new session works: the requested directory, an existing workspace, or a new one. */
import { existsSync, realpathSync } from "node:fs";
import { HoldfastError, type Principal, type SpawnRequest } from "@holdfast/contract";
import { withUmask } from "@holdfast/platform/git/command";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { findRepository } from "../workspace/git/repository.ts";
import type { CreateRequest, Workspaces } from "../workspace/workspaces.ts";

export interface Place {
  cwd: string;
  workspace: WorkspaceRecord | undefined;
  /** Created for this session. */
  isNew: boolean;
}

export async function placeFor(
  request: SpawnRequest,
  {
    workspaces,
    name,
    actor,
    tournament,
    copyOf,
  }: { workspaces: Workspaces; name: string; actor: Principal } & Pick<CreateRequest, "tournament" | "copyOf">,
): Promise<Place> {
  const { cwd, env, worktree, workspace: ref } = request;
  if (worktree && ref !== undefined)
    throw new HoldfastError("usage", "a session uses a new worktree or an existing workspace, not both", {
      hint: "omit --worktree or --workspace",
    });
  if (worktree) {
    const about = [request.objective, request.prompt].filter((words) => words !== undefined).join("\n\n") || undefined;
    const made = request.id === undefined ? undefined : workspaces.madeFor(request.id, actor);
    const workspace =
      made ??
      (await workspaces.create(
        {
          ...worktree,
          session: request.id,
          cwd,
          env: withUmask(env, request.umask),
          name,
          context: request.context,
          about,
          tournament,
          copyOf,
        },
        actor,
      ));
    const tree = workspace.kind === "plain" ? null : ((await findRepository(cwd, env))?.tree ?? null);
    return {
      cwd: workspace.kind === "plain" ? cwd : workspaces.placeIn(workspace, { cwd: realpathSync(cwd), tree }),
      workspace,
      isNew: true,
    };
  }
  if (ref === undefined) return { cwd, workspace: workspaces.queries.containing(realPath(cwd)), isNew: false };
  const workspace = workspaces.queries.resolve(ref);
  if (!existsSync(workspace.path))
    throw new HoldfastError("workspace_removed", `the directory of ${workspace.name} is gone: ${workspace.path}`, {
      hint: `remove the rest of it: holdfast workspace rm ${workspace.name}`,
    });
  return { cwd: workspace.path, workspace, isNew: false };
}

/** Throws what `placeFor` would refuse, and creates nothing. */
export async function plannedPlace(
  request: SpawnRequest,
  { workspaces, name, actor }: { workspaces: Workspaces; name: string; actor: Principal },
): Promise<{ cwd: string; repository: string | null; branch: string | null }> {
  const { cwd, env, worktree } = request;
  if (worktree && request.workspace === undefined) return { cwd, ...(await workspaces.check({ ...worktree, cwd, env, name })) };
  return { cwd: (await placeFor(request, { workspaces, name, actor })).cwd, repository: null, branch: null };
}

/** A path that cannot be reached is refused by name later. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
