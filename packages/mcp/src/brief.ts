/** A short form of a session for agents; show_agent has more. */
import type { Session } from "@holdfast/contract/session/session";

export function brief(session: Session) {
  const { id, name, agent, kind, status, attention, objective, parent, cwd, workspace, progress, exit, endedAt } = session;
  return {
    name,
    id,
    agent,
    kind,
    status,
    ...(attention ? { waitsFor: attention } : {}),
    ...(objective === null ? {} : { objective }),
    ...(progress ? { progress } : {}),
    ...(parent === null ? {} : { parent }),
    cwd,
    ...(workspace?.branch ? { branch: workspace.branch } : {}),
    ...(endedAt === null ? {} : { endedAt, exit }),
  };
}
