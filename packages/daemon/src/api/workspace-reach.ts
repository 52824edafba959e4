/** Resolves references to workspaces, within the reach of a session. */
import { HoldfastError, type SessionId } from "@holdfast/contract";
import { sessionPrincipal } from "../access/principal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../projection/workspaces.ts";
import { realPath } from "../session/place.ts";

interface Tables {
  workspaces: WorkspaceQueries;
  sessions: SessionQueries;
}

/** Finds a workspace by name or id, by a path in it, or by the name or id of a session that works in it. With `reach`, workspaces of others are not revealed. */
export function findWorkspace({ workspaces, sessions }: Tables, ref: string, reach?: SessionId): WorkspaceRecord {
  const known = (ref.startsWith("/") ? workspaces.containing(ref) : undefined) ?? workspaces.byName(ref);
  if (known) return known;
  const session = sessions.named(ref);
  const isKnown = (record: WorkspaceRecord) => reach === undefined || reachesWorkspace({ sessions }, reach, record);
  try {
    return workspaces.resolve(session?.workspace?.id ?? ref, { all: true, known: isKnown });
  } catch (error) {
    if (reach === undefined && ref.startsWith("/")) throw notIn(ref);
    if (reach === undefined && session) throw without(session.name);
    throw error;
  }
}

function notIn(path: string): HoldfastError {
  return new HoldfastError("workspace_not_found", `${path} is not in a workspace`, {
    hint: "name a workspace; list them: holdfast workspace ls",
  });
}

function without(name: string): HoldfastError {
  return new HoldfastError("workspace_not_found", `the session ${name} has no workspace of its own`, {
    hint: "start a session with --worktree to get one",
  });
}

/** A session reaches the workspaces that it or a descendant created or works in. */
export function reachesWorkspace({ sessions }: Pick<Tables, "sessions">, reach: SessionId, record: WorkspaceRecord): boolean {
  const own = sessions.descendants(reach);
  return own.some((id) => record.owner === sessionPrincipal(id) || sessions.get(id)?.workspace?.id === record.id);
}

/** True if the session or a descendant was started there before there was a workspace. */
export function worksBelow({ sessions }: Pick<Tables, "sessions">, reach: SessionId, path: string): boolean {
  const places = sessions.descendants(reach).map((id) => realPath(sessions.get(id)?.cwd ?? ""));
  return places.some((place) => place === path || place.startsWith(`${path}/`));
}
