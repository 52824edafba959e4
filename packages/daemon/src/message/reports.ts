/**
 * Reports of a session to the session that started it: each answer at the end of a turn, each failed turn, and how it ended. A report is a message
 * from the child, written in the transaction of the event that it reports, so that none is lost or repeated; its id is derived from that event, in
 * case the event is written again.
 */
import { type HoldfastEvent, hasEnded, reachedText, sessionOf } from "@holdfast/contract";
import { sessionPrincipal } from "../access/principal.ts";
import type { Consequence, Draft, Journal } from "../journal/journal.ts";
import type { MessageQueries } from "../projection/messages.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { derivedId } from "./derived-id.ts";

interface Rooms {
  journal: Journal;
  sessions: SessionQueries;
  messages: MessageQueries;
}

/** More stop requests than one run ever gets. */
const MOST_STOPS = 1000;

export function reportsFrom(rooms: Rooms): Consequence {
  return (event) => {
    const fact = factOf(event);
    const child = fact && event.session !== null ? rooms.sessions.get(event.session) : undefined;
    if (!fact || !child?.report || child.parent === null) return [];
    const text = fact.is === "end" ? endOf(child, event, rooms) : fact.is === "failure" && child.stopRequested ? null : fact.text;
    const id = derivedId([child.id, child.run, fact.is, ...fact.of]);
    if (text === null || rooms.messages.get(id) || !rooms.sessions.get(child.parent)) return [];
    const report: Draft = {
      type: "message.queued",
      actor: sessionPrincipal(child.id),
      session: child.parent,
      data: { id, text, steer: false },
    };
    return [report];
  };
}

interface Fact {
  is: "answer" | "failure" | "end";
  /** Identifies the event within its run. */
  of: (string | number)[];
  text: string;
}

function factOf({ type, data }: HoldfastEvent): Fact | undefined {
  if (type === "session.replied") {
    const { turn, toldAt, reply, cut } = data;
    const rest = cut ? "\n\n[The answer is cut off here.]" : "";
    return { is: "answer", of: [turn, toldAt], text: `Its answer at the end of turn ${turn}:\n\n${reply}${rest}` };
  }
  if (type === "session.turn_failed") {
    const { turn, toldAt, why } = data;
    return { is: "failure", of: [turn, toldAt], text: `Its turn ${turn} failed: ${why}` };
  }
  // session.restart_abandoned says that no further run comes.
  return type === "session.ended" || type === "session.restart_abandoned" ? { is: "end", of: [], text: "" } : undefined;
}

/** Null if it will run again, or if its parent or another ancestor ended it and so knows. */
function endOf(child: SessionRecord, event: HoldfastEvent, { journal, sessions }: Rooms): string | null {
  if (!hasEnded(child.status) || child.restartAt !== null) return null;
  const stops = child.stopRequested ? journal.readAfter(0, MOST_STOPS, { session: child.id, types: ["session.stop_requested"] }) : [];
  const by = event.type === "session.restart_abandoned" ? event.actor : stops.at(-1)?.actor;
  const above = by === undefined ? undefined : sessionOf(by);
  if (above !== undefined && above !== child.id && sessions.descendants(above).includes(child.id)) return null;
  const how = child.status === "stopped" && by !== undefined ? `stopped by ${by}` : `${child.status}${exitOf(child)}`;
  const budget = child.budgetExceeded ? `; budget: ${reachedText(child.budgetExceeded)}` : "";
  const look = child.kind === "conversation" ? `holdfast transcript ${child.name}` : `holdfast logs ${child.name}`;
  return `It has ended: ${how}${budget}. Read its output: ${look}`;
}

function exitOf({ exit }: SessionRecord): string {
  if (exit?.signal) return ` (${exit.signal})`;
  return exit?.code == null ? "" : ` (exit ${exit.code})`;
}
