import type { EndpointName, Principal, SessionId } from "@holdfast/contract";
import { sessionPrincipal } from "../access/principal.ts";
import type { GroupReach } from "../group/reach.ts";
import type { GroupMessages } from "../message/group-messages.ts";
import type { Messages, Reader } from "../message/messages.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Caller, Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";

/** The client repeats its request, because some proxies drop a connection that is silent for longer. */
const LONGEST_WAIT_MS = 60_000;

export type MessageHandlers = Pick<
  Handlers,
  "sendMessage" | "sendToPerson" | "listMessages" | "readMessages" | "getMessage" | "cancelMessage" | "sendToGroup" | "groupLog"
>;

export function messageHandlers({
  messages,
  toGroups,
  groupReach,
  sessions,
  queries,
  gate,
}: {
  messages: Messages;
  toGroups: GroupMessages;
  groupReach: GroupReach;
  sessions: Sessions;
  queries: SessionQueries;
  gate: Gate;
}): MessageHandlers {
  /** A message within a session's reach: to itself or a descendant, or sent by it. */
  const known = (id: string, { reach }: Caller, name: EndpointName): string => {
    if (reach === undefined) return id;
    const { session, from, principal } = messages.get(id);
    if (from === sessionPrincipal(reach)) return id;
    if (session === null) throw gate.refuse(reach, name, `the message is to ${principal}`);
    gate.resolve(reach, name, session);
    return id;
  };
  /** Also accepts a message to a group that the caller may read. */
  const answered = (replyTo: string | undefined, caller: Caller, name: EndpointName) => {
    const group = replyTo === undefined ? undefined : toGroups.groupOf(replyTo);
    if (group !== undefined) groupReach.checkRead(caller.reach, group, name);
    return replyTo === undefined || group !== undefined ? replyTo : known(replyTo, caller, name);
  };

  return {
    sendMessage: ({ params, body }, caller) => {
      const { actor, scope, reach } = caller;
      const { id } = queries.resolve(params.ref);
      const replyTo = answered(body.replyTo, caller, "sendMessage");
      if (messages.isTypedAtOnce(id, { actor, replyTo })) {
        sessions.terminals.checkTyping(id, { actor, scope });
        if (reach !== undefined) gate.refuseApproving(reach, "sendMessage", id);
      }
      return messages.send(id, { ...body, replyTo, actor });
    },
    sendToPerson: ({ params, body }, caller) => {
      const replyTo = answered(body.replyTo, caller, "sendToPerson");
      return messages.sendToPerson(params.person, { ...body, replyTo, actor: caller.actor });
    },
    listMessages: ({ query }, { reach, actor }) => {
      const { session: ref, mine, thread, state: states, limit } = query;
      const resolve = (name: string) => (reach === undefined ? queries.resolve(name).id : gate.resolve(reach, "listMessages", name));
      const session = ref === undefined ? (mine ? reach : undefined) : resolve(ref);
      const person = mine && reach === undefined ? actor : undefined;
      return { messages: messages.list({ session, person, thread, states, limit, within: reach && withinOf(reach, queries) }) };
    },
    readMessages: ({ body }, { reach, actor, signal }) => {
      const waiting = AbortSignal.any([signal, AbortSignal.timeout(Math.min(body.waitMs, LONGEST_WAIT_MS))]);
      const isGone = () => signal.aborted;
      return messages.read(readerOf({ reach, actor }), { ...body, actor, signal: waiting, isGone });
    },
    getMessage: ({ params, query }, caller) => {
      const id = known(params.id, caller, "getMessage");
      if (query.until === undefined) return messages.get(id);
      const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(Math.min(query.waitMs, LONGEST_WAIT_MS))]);
      return messages.reached(id, { until: query.until, signal });
    },
    sendToGroup: ({ params, body }, caller) => {
      groupReach.checkRead(caller.reach, params.group, "sendToGroup");
      const replyTo = answered(body.replyTo, caller, "sendToGroup");
      return toGroups.send(params.group, { ...body, replyTo, actor: caller.actor });
    },
    groupLog: ({ params, query }, { reach }) => {
      groupReach.checkRead(reach, params.group, "groupLog");
      return { messages: toGroups.list(params.group, query.limit, reach && groupReach.peersOf(reach)) };
    },
    cancelMessage: ({ params }, caller) => messages.cancel(known(params.id, caller, "cancelMessage"), caller.actor),
  };
}

/** The reader that "mine" refers to. */
export function readerOf({ reach, actor }: { reach: SessionId | undefined; actor: Principal }): Reader {
  return reach === undefined ? { person: actor } : { session: reach };
}

function withinOf(reach: SessionId, queries: SessionQueries) {
  return { sessions: queries.descendants(reach), senders: [sessionPrincipal(reach)] };
}
