/** Which workspace is meant, and which a session may know of. */
import type { SessionId } from "@holdfast/contract";
import { sessionPrincipal } from "../access/principal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../projection/workspaces.ts";

interface Tables {
  workspaces: WorkspaceQueries;
  sessions: SessionQueries;
}

/** By name or id, by a path in it, or by a session that works in it. */
export function findWorkspace({ workspaces, sessions }: Tables, ref: string): WorkspaceRecord {
  const inside = ref.startsWith("/") ? workspaces.containing(ref) : undefined;
  const lived = inside ?? workspaces.byName(ref) ?? sessions.byName(ref)?.workspace?.id;
  return typeof lived === "object" ? lived : workspaces.resolve(lived ?? ref, { all: true });
}

/** A session reaches the workspaces that it or a descendant made or works in. */
export function reachesWorkspace({ sessions }: Pick<Tables, "sessions">, reach: SessionId, record: WorkspaceRecord): boolean {
  const own = sessions.descendants(reach);
  return own.some((id) => record.owner === sessionPrincipal(id) || sessions.get(id)?.workspace?.id === record.id);
}
