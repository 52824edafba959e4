import type { EventData, Principal } from "@holdfast/contract";
import type { Draft } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "./session-queries.ts";

/**
 * What is written when a session goes: its end, and for each child that it belongs to the removed one's parent now. A fact of the child's
 * own, for the events of the removed one will be pruned.
 */
export function removal(
  queries: SessionQueries,
  { id, name, parent }: SessionRecord,
  { actor, ...data }: { actor: Principal } & Omit<EventData<"session.removed">, "name" | "parent">,
): Draft[] {
  return [
    ...queries.children(id).map((child): Draft => ({ type: "session.reparented", actor, session: child.id, data: { from: id, parent } })),
    { type: "session.removed", actor, session: id, data: { name, parent, ...data } },
  ];
}
