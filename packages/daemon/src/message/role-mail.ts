/**
 * Messages to the coordinator of a group are for the role. When the coordinator changes, undelivered messages move to the new one in the same
 * transaction, with the same id, and their receipts follow. Without a coordinator they wait where they are, and are not delivered there (`IN_LINE` in
 * projection/messages.ts). When the group is removed, they fail.
 */
import type { SessionId } from "@holdfast/contract";
import { DAEMON, sessionPrincipal } from "../access/principal.ts";
import type { Consequence, Draft } from "../journal/journal.ts";
import type { GroupQueries } from "../projection/group-queries.ts";
import type { MessageQueries, SessionMessage } from "../projection/messages.ts";
import { failure } from "./receipts.ts";

export function roleMail(rooms: {
  messages: MessageQueries;
  groups: GroupQueries;
  /** Notes that follow the first message to a session. */
  additionFor(session: SessionId, text: string): { addition?: string };
}): Consequence {
  const { messages, groups } = rooms;
  const onward = (message: SessionMessage, to: SessionId): Draft[] => {
    if (message.session === to) return [];
    if (message.from === sessionPrincipal(to)) return [failure(message, { ...OWN, known: true })];
    const { id, from, text, steer, group, role, sent, thread, replyTo, expiresAt, due, queuedAt, session: before } = message;
    if (group === null || role === null || sent === null) return [];
    const rest = {
      ...(replyTo === null ? {} : { replyTo }),
      ...(expiresAt === null ? {} : { expiresAt, due }),
      ...rooms.additionFor(to, text),
    };
    const data = { id, from, text, steer, group, role, sent, thread, queuedAt, before, ...rest };
    return [{ type: "message.readdressed", actor: DAEMON, session: to, data }];
  };
  return (event) => {
    if (event.type === "group.coordinator_changed") {
      const { group, coordinator } = event.data;
      return coordinator === null ? [] : messages.toCoordinator(group).flatMap((message) => onward(message, coordinator));
    }
    if (event.type === "group.removed")
      return messages.toCoordinator(event.data.group).map((message) => failure(message, { ...REMOVED, known: true }));
    // The coordinator that was about to get it may have ended meanwhile.
    if (event.type !== "message.requeued" || event.data.doubt) return [];
    const message = messages.get(event.data.id) as SessionMessage | undefined;
    if (message?.role !== "coordinator" || message.group === null) return [];
    const now = groups.coordinator(message.group);
    return now === null ? [] : onward(message, now.session);
  };
}

const OWN = { why: "its sender now coordinates the group", hint: "list the members: holdfast group show GROUP" };
const REMOVED = { why: "the group was removed before the message was delivered", hint: "send it to a session: holdfast send NAME" };
