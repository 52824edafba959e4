/** How many turns a session had, as far as anybody knows. No turn seen is not the same as no turn. */
import type { Session } from "@holdfast/contract";
import { isObserved, type Profile } from "../agent/profile.ts";
import type { SessionRecord } from "../projection/session-queries.ts";

type Counted = Pick<SessionRecord, "kind" | "turns" | "spokenRun" | "conversations">;

/** Null: nothing tells, or words were handed over and no turn was seen to begin. */
export function turnsOf({ kind, turns, spokenRun }: Counted, profile: Profile | undefined): number | null {
  if (kind !== "terminal" || turns > 0) return turns;
  return isSeen(profile) && spokenRun === 0 ? 0 : null;
}

export function conversationsOf({ kind, conversations }: Counted, profile: Profile | undefined): Session["conversations"] {
  if (kind === "conversation" || isSeen(profile)) return conversations;
  return conversations.map((one) => (one.turns === 0 ? { ...one, turns: null } : one));
}

/**
 * The conversation it is in, unless that is empty: most agents have not even written that down, and could not go on with it. `kept`: how many turns
 * of it the agent's own files have; null: they do not say.
 */
export function conversationWithTurns(
  record: Counted & Pick<SessionRecord, "conversation">,
  { profile, kept }: { profile: Profile | undefined; kept: number | null },
): string | null {
  const { kind, conversation } = record;
  // What keeps it is told that it is empty.
  if (kind === "conversation") return conversation;
  const seen = conversationsOf(record, profile).find(({ id }) => id === conversation)?.turns ?? null;
  const isEmpty = seen === 0 ? (kept ?? 0) === 0 : seen === null && kept === 0;
  return isEmpty ? null : conversation;
}

function isSeen(profile: Profile | undefined): boolean {
  return profile !== undefined && isObserved(profile);
}
