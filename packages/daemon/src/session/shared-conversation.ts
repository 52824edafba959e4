/** Agents that keep one conversation for each directory: which of several sessions there it belongs to is not for us to guess. */
import { HoldfastError } from "@holdfast/contract";
import type { Profile } from "../agent/profile.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";

/** Another session whose agent has, or may have, written over the conversation of this one. */
export function sharedWith(queries: SessionQueries, record: SessionRecord, profile: Profile | undefined): SessionRecord | undefined {
  if (!profile?.conversation?.perDirectory || record.conversation === null || record.startedAt === null) return undefined;
  const since = record.startedAt;
  return queries.select({ all: true, agent: [record.agent] }).find(({ id, conversation, startedAt, endedAt }) => {
    if (id === record.id || conversation !== record.conversation || startedAt === null) return false;
    return endedAt === null || endedAt >= since;
  });
}

export function sharedRefusal({ name, agent, cwd }: SessionRecord, other: SessionRecord): HoldfastError {
  return new HoldfastError(
    "conversation_unknown",
    `${agent} keeps one conversation for each directory, and ${other.name} worked in ${cwd}, too`,
    {
      hint: `to resume it whosever it is: holdfast resume ${name} --conversation ${cwd}; to begin a new one: holdfast resume ${name} --fresh`,
    },
  );
}

export function sharedNote({ agent }: SessionRecord, other: SessionRecord): string {
  return `${agent} keeps one conversation for each directory, and ${other.name} works there as well: only the last can be resumed; --worktree keeps them apart`;
}
