/**
 * Turns an agent's report at the end of a turn into events: its answer, or why the turn failed. They are written in the transaction that takes the
 * signal. A signal that is taken twice (the daemon died before it deleted the hook's file) is written once.
 */
import { LONGEST_REPLY } from "@holdfast/contract";
import { DAEMON } from "../../access/principal.ts";
import type { Draft } from "../../journal/journal.ts";
import type { TurnQueries } from "../../projection/turns.ts";
import type { StatusFollower } from "./agent-status.ts";

export function repliesFrom(turns: TurnQueries): StatusFollower {
  return ({ record, signal, changed }) => {
    // Entries of its own files are in its transcript, and may not be its last answer.
    if (!signal || signal.written || (!signal.reply && !signal.failure)) return [];
    const { id: session, run } = record;
    const turn = record.turns + (changed?.turnBegan ? 1 : 0);
    const about = { actor: DAEMON, session };
    const toldAt = signal.at;
    const drafts: Draft[] = [];
    if (signal.reply) {
      const reply = signal.reply.slice(0, LONGEST_REPLY).toWellFormed();
      const known = turns.lastReply(session);
      const isKnown = known?.run === run && known.toldAt === toldAt && known.reply === reply;
      const data = { run, turn, toldAt, reply, cut: signal.reply.length > LONGEST_REPLY };
      if (!isKnown) drafts.push({ ...about, type: "session.replied", data });
    }
    if (signal.failure && turns.failedAt(session, turn) !== toldAt) {
      drafts.push({ ...about, type: "session.turn_failed", data: { run, turn, toldAt, why: signal.failure.slice(0, LONGEST_FAILURE) } });
    }
    return drafts;
  };
}

/** Some failures contain a page of HTML. */
const LONGEST_FAILURE = 2000;
