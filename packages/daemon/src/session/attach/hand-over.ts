/** Gives a session to another principal. Its record, files and history stay where they are. */
import { HoldfastError, type Principal, principalOf, type Scope, type Session } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import { osUser } from "../../access/principal.ts";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { amendSpec } from "../run/run-files.ts";
import type { Attachments } from "./attachments.ts";
import { type Driver, mayTake } from "./driving.ts";

interface Rooms {
  home: Home;
  journal: Journal;
  sessions: SessionQueries;
  attachments: Attachments;
  viewOf(ref: string): Session;
  scopeOf(principal: Principal): Scope | undefined;
}

export function handOverWith(rooms: Rooms) {
  return async (ref: string, { to, note = null, ...who }: Driver & { to: string; note?: string | null | undefined }): Promise<Session> => {
    const record = rooms.sessions.resolve(ref);
    if (!mayTake(record, who)) throw notTheirs(record, who.actor);
    const recipient = recipientOf(rooms, to);
    if (recipient === record.owner) throw new HoldfastError("usage", `${record.name} already belongs to ${recipient}`);
    const data = { from: record.owner, to: recipient, note };
    rooms.journal.append({ type: "session.handed_over", actor: who.actor, session: record.id, data });
    // A second copy, in case the journal is lost.
    amendSpec(rooms.home, record.id, { owner: recipient, handover: { by: who.actor, from: data.from, note } });
    const text = `${record.name} now belongs to ${recipient}${note === null ? "" : `: ${note.replaceAll(/\s+/g, " ")}`}`;
    for (const { id } of record.attachments) await rooms.attachments.tell(record.id, id, text.replaceAll(/\p{Cc}/gu, ""));
    return rooms.viewOf(record.id);
  };
}

/** A principal that can use a session. */
function recipientOf(rooms: Rooms, to: string): Principal {
  const person = /^(user|token):\S+$/.test(to) ? principalOf(to) : undefined;
  const scope = person && rooms.scopeOf(person);
  if (person && (scope === "owner" || scope === "driver")) return person;
  if (scope !== undefined) {
    throw new HoldfastError("forbidden", `${to} has the scope ${scope}, which cannot use a session of its own`, {
      hint: "create a token that can: holdfast token create --scope driver --name NAME",
    });
  }
  const other = /^user:(\S+)$/.exec(to)?.[1];
  throw new HoldfastError("principal_unknown", `${JSON.stringify(to)} cannot act here`, {
    hint: other
      ? `only ${osUser()} needs no token; create one for them: holdfast token create --scope driver --name ${other}, then pass --to token:${other}`
      : "pass token:NAME (holdfast token ls lists them) or user:NAME",
  });
}

function notTheirs({ name, owner }: SessionRecord, actor: Principal): HoldfastError {
  return new HoldfastError("forbidden", `${name} belongs to ${owner}, and ${actor} may not hand it over`, {
    hint: `only ${owner} and principals with the scope owner may`,
  });
}
