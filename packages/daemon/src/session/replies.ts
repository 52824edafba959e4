/**
 * What an agent told at the end of a turn, as events for the transaction in which its words are taken: its answer, or why the turn failed.
 * Taken twice (a daemon that died before it could delete the hook's file) it is written once.
 */
import { LONGEST_REPLY } from "@holdfast/contract";
import { DAEMON } from "../access/principal.ts";
import type { Draft } from "../journal/journal.ts";
import type { TurnQueries } from "../projection/turns.ts";
import type { StatusFollower } from "./agent-status.ts";

export function repliesFrom(turns: TurnQueries): StatusFollower {
  return ({ record, signal, changed }) => {
    // What it wrote down is found in its transcript, and may not be its last word.
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

/** Some answer with a page of HTML. */
const LONGEST_FAILURE = 2000;
