import type { EventData, Principal } from "@holdfast/contract";
import type { Draft } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "./session-queries.ts";

/**
 * Returns the events of a session's removal: the removal itself, and for each child its new parent. The latter belong to the child, because the
 * removed session's events will be pruned.
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
