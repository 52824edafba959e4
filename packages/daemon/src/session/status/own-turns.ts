/**
 * Counts turns that were over before a look: an agent without hooks shows them on its screen for less than a second. They are counted from its own
 * transcript whenever it rests, and at its end.
 */
import type { SessionId } from "@holdfast/contract";
import { DAEMON } from "../../access/principal.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import { bytesOf, filesOf, turnsIn } from "../../agent/transcript.ts";
import type { Draft } from "../../journal/journal.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";
import type { StatusFollower } from "./agent-status.ts";

/** The last count: the size of its files, and a turn that its files showed before its screen did. */
interface Counted {
  bytes: number;
  ahead: number | null;
}

export function ownTurns(options: {
  profiles: Profiles;
  envOf(session: SessionId): Readonly<Record<string, string>> | undefined;
}): StatusFollower {
  const counted = new Map<SessionId, Counted>();
  return ({ record, changed, seen, signal }) => {
    const { id, conversation, cwd, agent, run, kind, createdAt } = record;
    const transcript = options.profiles.find(agent)?.transcript;
    if (kind !== "terminal" || !transcript?.prompt || transcript.uncounted || conversation === null) return [];
    // A prompt is written down before the screen shows its turn.
    if (signal && !changed) return [];
    const env = options.envOf(id);
    if (!env) return [];
    const of = { conversation, cwd, env };
    const before = counted.get(id);
    const count = (missed: number, turns: number): Draft[] => [
      { type: "session.turns_counted", actor: DAEMON, session: id, data: { run, conversation, turns, missed } },
    ];
    if (changed?.turnBegan) {
      if (before) counted.set(id, { ...before, ahead: null });
      // The same turn is about to be counted a second time.
      const isCounted = typeof before?.ahead === "number" && turnsIn(transcript, of, createdAt) === before.ahead;
      return isCounted ? count(-1, seenIn(record, conversation) - 1) : [];
    }
    const turn = changed ? changed.turn : (record.standing?.turn ?? null);
    const isEnd = !changed && !seen;
    if (turn === "working" || (turn === null && !isEnd)) return [];
    // A moving screen may be about to show the turn.
    if (seen && !seen.settled) return [];
    const bytes = bytesOf(filesOf(transcript, of));
    if (bytes === before?.bytes) return [];
    const turns = turnsIn(transcript, of, createdAt);
    const missed = turns === null ? 0 : turns - seenIn(record, conversation);
    counted.set(id, { bytes, ahead: missed > 0 ? turns : null });
    return turns === null || missed <= 0 ? [] : count(missed, turns);
  };
}

/** Turns counted for this conversation. Without a count of its own: the session's turns that belong to no other conversation. */
function seenIn({ turns, conversations }: SessionRecord, conversation: string): number {
  const others = conversations.filter(({ id }) => id !== conversation).reduce((sum, one) => sum + (one.turns ?? 0), 0);
  return conversations.find(({ id }) => id === conversation)?.turns ?? Math.max(0, turns - others);
}
