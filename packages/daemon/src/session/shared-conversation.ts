/** For agents that keep one conversation per directory: which of several sessions there owns it must not be guessed. */
import { HoldfastError, type Principal, sessionOf } from "@holdfast/contract";
import { shellWord } from "@holdfast/platform/shell";
import type { Profile } from "../agent/profile.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";

/** Another session whose agent may have overwritten this one's conversation. */
export function sharedWith(queries: SessionQueries, record: SessionRecord, profile: Profile | undefined): SessionRecord | undefined {
  if (!profile?.conversation?.perDirectory || record.conversation === null || record.startedAt === null) return undefined;
  const since = record.startedAt;
  return queries.select({ all: true, agent: [record.agent] }).find(({ id, conversation, startedAt, endedAt }) => {
    if (id === record.id || conversation !== record.conversation || startedAt === null) return false;
    return endedAt === null || endedAt >= since;
  });
}

export function sharedRefusal({ name, agent, cwd }: SessionRecord, other: string, { canChoose }: { canChoose: boolean }): HoldfastError {
  const anyway = canChoose ? `to resume it anyway: holdfast resume ${name} --conversation ${shellWord(cwd)}; ` : "";
  return new HoldfastError("conversation_unknown", `${agent} keeps one conversation per directory, and ${other} also worked in ${cwd}`, {
    hint: `${anyway}to start a new one: holdfast resume ${name} --fresh`,
  });
}

export function sharedNote({ agent }: SessionRecord, other: string): string {
  return `${agent} keeps one conversation per directory, and ${other} also works there: only the last one can be resumed; --worktree keeps them apart`;
}

/** A session must not learn the name of a session out of its reach, nor continue that one's conversation. */
export function isWithinReach(queries: SessionQueries, { id }: SessionRecord, actor: Principal): boolean {
  const own = sessionOf(actor);
  return own === undefined || queries.descendants(own).includes(id);
}
