/** On the remote machine, after a broken attach: finds the session that the terminal showed last, which a key may have changed. */
import type { EventData } from "@holdfast/contract/events";
import type { Context } from "../command.ts";

/** Undefined if unknown. `mark`: the local side's id of this terminal. */
export async function whereItWas(context: Context, mark: string): Promise<string | undefined> {
  const clients = new Set<string>();
  let last: string | undefined;
  let after: string | undefined;
  for (;;) {
    const page = await context.client.call("listEvents", { query: { type: ["session.attach_requested", "session.attached"], after } });
    for (const { type, session, data } of page.events) {
      const { client } = data as Partial<EventData<"session.attach_requested">>;
      const { pid, pidStart } = data as Partial<EventData<"session.attached">>;
      const isAsked = type === "session.attach_requested" && client?.mark === mark;
      if (isAsked) clients.add(`${client.pid} ${client.start}`);
      if (isAsked || (type === "session.attached" && clients.has(`${pid} ${pidStart}`))) last = session ?? last;
    }
    if (!page.more) break;
    after = page.cursor;
  }
  if (last === undefined) return undefined;
  // If that session has ended or was removed, the name that was asked for is used, and its error is reported.
  const { sessions } = await context.client.call("listSessions", { query: {} });
  return sessions.some(({ id }) => id === last) ? last : undefined;
}
