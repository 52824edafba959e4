/** Warns the agents of both workspaces when one of them popped a stash of the other. */
import { DAEMON, type EventData } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { WorkspaceQueries } from "../projection/workspaces.ts";
import type { Messages } from "./messages.ts";

export function stashWarnings({
  messages,
  workspaces,
  sessions,
}: {
  messages: Messages;
  workspaces: WorkspaceQueries;
  sessions: SessionQueries;
}) {
  return ({ id, by, commit }: EventData<"workspace.stash_taken">): void => {
    const [owner, taker] = [workspaces.get(id)?.name ?? id, workspaces.get(by)?.name ?? by];
    const again = `git stash apply ${commit}`;
    const texts = {
      [id]: `Worktrees of a repository share one git stash. The workspace ${taker} popped a stash of this one. To get it back: ${again}. Commit to your branch instead of using git stash.`,
      [by]: `Worktrees of a repository share one git stash. Your git stash pop took the work of the workspace ${owner}. Remove its changes from your files; ${owner} gets them back with: ${again}. Commit to your branch instead of using git stash.`,
    };
    for (const [workspace, text] of Object.entries(texts)) {
      for (const name of workspaces.sessionsOf(workspace as typeof id)) {
        const session = sessions.resolve(name).id;
        // A shell would run it as a command.
        if (messages.isTypedAtOnce(session, { actor: DAEMON })) continue;
        messages
          .send(session, { text, steer: false, actor: DAEMON })
          .catch((error: unknown) => log(`session ${name}: it could not be warned about a stash: ${describe(error)}`));
      }
    }
  };
}
