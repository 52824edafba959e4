/** Tracks the conversation of an agent without Holdfast's hooks: one that was adopted, or that could not be given any. */
import { allProcesses, type Home, msSince, runDirectory, startStamp } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { canFind, findConversation, type Running } from "../../agent/find-conversation.ts";
import { hasHooks } from "../../agent/hooks/injection.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { amendSpec, readEnvironment } from "../run/run-files.ts";
import type { StatusFollower } from "./agent-status.ts";
import { descendantsOf } from "./process-tree.ts";

export function conversationsFrom({
  home,
  profiles,
  queries,
}: {
  home: Home;
  profiles: Profiles;
  queries: SessionQueries;
}): StatusFollower {
  return ({ record, changed, seen }) => {
    // While the screen moves and the status stays the same, so does the conversation.
    if (seen && !seen.settled && !changed) return [];
    // A session that uses a protocol reports its conversation itself.
    const profile = record.kind === "terminal" ? profiles.find(record.agent) : undefined;
    if (!profile || !canFind(profile) || record.pid === null || hasHooks(runDirectory(home, record.id, record.run))) return [];
    const { id: session, run, pid, cwd } = record;
    const env = readEnvironment(home, session) ?? {};
    const found = findConversation(profile, {
      ...whatRuns({ pid, start: record.pidStart ?? "" }),
      cwd,
      env,
      known: record.conversation,
      conversations: record.conversations.map(({ id }) => id),
      isTaken: takenFrom(queries, record),
    });
    if (found === null || found === record.conversation) return [];
    amendSpec(home, session, { conversation: found });
    return [{ type: "session.conversation_changed", actor: DAEMON, session, data: { run, conversation: found } }];
  };
}

export function whatRuns({ pid, start }: { pid: number; start: string }): Pick<Running, "pids" | "since"> {
  const below = descendantsOf(pid, allProcesses());
  const age = msSince(startStamp(start));
  // If the start is unknown, nothing counts as later than it.
  return { pids: [pid, ...below.map((info) => info.pid)], since: age === undefined ? Number.POSITIVE_INFINITY : Date.now() - age };
}

export function takenFrom(queries: SessionQueries, record?: Pick<SessionRecord, "id">): (conversation: string) => boolean {
  return (conversation) =>
    queries
      .select({ all: true })
      .some(({ id, conversations }) => id !== record?.id && conversations.some((each) => each.id === conversation));
}
