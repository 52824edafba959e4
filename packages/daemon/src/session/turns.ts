/** The known number of turns of a session. No observed turn does not mean no turn. */
import type { Session } from "@holdfast/contract";
import { isObserved, type Profile } from "../agent/profile.ts";
import type { SessionRecord } from "../projection/session-queries.ts";

type Counted = Pick<SessionRecord, "kind" | "turns" | "spokenRun" | "conversations">;

/** Null: there is no evidence, or a prompt was handed over and no turn was seen to begin. */
export function turnsOf({ kind, turns, spokenRun }: Counted, profile: Profile | undefined): number | null {
  if (kind !== "terminal" || turns > 0) return turns;
  return isSeen(profile) && spokenRun === 0 ? 0 : null;
}

export function conversationsOf({ kind, conversations }: Counted, profile: Profile | undefined): Session["conversations"] {
  if (kind === "conversation" || isSeen(profile)) return conversations;
  return conversations.map((one) => (one.turns === 0 ? { ...one, turns: null } : one));
}

/**
 * The current conversation, unless it is empty: most agents have not saved an empty one, and could not continue it. `kept`: its turns in the agent's
 * own files; null if unknown.
 */
export function conversationWithTurns(
  record: Counted & Pick<SessionRecord, "conversation">,
  { profile, kept }: { profile: Profile | undefined; kept: number | null },
): string | null {
  const { kind, conversation } = record;
  // The keeper learns separately that it is empty.
  if (kind === "conversation") return conversation;
  const seen = conversationsOf(record, profile).find(({ id }) => id === conversation)?.turns ?? null;
  const isEmpty = seen === 0 ? (kept ?? 0) === 0 : seen === null && kept === 0;
  return isEmpty ? null : conversation;
}

function isSeen(profile: Profile | undefined): boolean {
  return profile !== undefined && isObserved(profile);
}
