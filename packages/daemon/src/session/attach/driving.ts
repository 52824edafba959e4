/** Decides who may drive a session, and moves control from one terminal to another. */
import {
  type Attachment,
  type ControlReply,
  grants,
  HoldfastError,
  isRunning,
  type Principal,
  type Scope,
  type Session,
} from "@holdfast/contract";
import type { Journal } from "../../journal/journal.ts";
import type { AttachmentQueries, AttachmentRecord } from "../../projection/attachments.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { notRunning } from "../run/running.ts";
import type { Attachments } from "./attachments.ts";

export interface Driver {
  actor: Principal;
  scope: Scope;
}

interface Rooms {
  journal: Journal;
  sessions: SessionQueries;
  queries: AttachmentQueries;
  attachments: Attachments;
  viewOf(ref: string): Session;
  /** The scope of a principal; undefined if it has none any more. */
  scopeOf(principal: Principal): Scope | undefined;
}

export function controlWith(rooms: Rooms) {
  return async (ref: string, how: Driver & { action: "request" | "give" | "take"; to?: string | undefined }): Promise<ControlReply> => {
    const record = rooms.sessions.resolve(ref);
    if (!isRunning(record.status)) throw notRunning(record);
    const here = await rooms.attachments.of(record.id);
    const driver = here.find(({ role }) => role === "driver");
    if (how.action === "request" && driver) return request(rooms, record, { driver, actor: how.actor });
    const target = how.action === "give" ? recipient(rooms, record, { here, driver, ...how }) : taker(record, { here, driver, ...how });
    checkMayDrive(rooms, target);
    await rooms.attachments.change(record.id, target, { actor: how.actor, how: how.action === "give" ? "given" : "taken" });
    return reply(rooms, record, false);
  };
}

async function request(
  rooms: Rooms,
  record: SessionRecord,
  { driver, actor }: { driver: AttachmentRecord; actor: Principal },
): Promise<ControlReply> {
  const data = { run: record.run, driver: driver.principal };
  rooms.journal.append({ type: "session.control_requested", actor, session: record.id, data });
  await rooms.attachments.tell(record.id, driver.id, `${actor} requests control; to hand it over: holdfast control give ${record.name}`);
  return reply(rooms, record, true);
}

/** The driver may give control away, and so may anybody who could take it. */
function recipient(
  rooms: Rooms,
  record: SessionRecord,
  { here, driver, actor, scope, to }: Driver & { here: AttachmentRecord[]; driver: AttachmentRecord | undefined; to?: string | undefined },
): AttachmentRecord {
  if (driver?.principal !== actor && !mayTake(record, { actor, scope })) throw notYours(record, driver);
  const others = here.filter(({ id }) => id !== driver?.id);
  if (to !== undefined) return named(record, others, to);
  const asked = others.findLast(({ principal }) => principal === rooms.queries.lastAsking(record.id));
  const [only, ...more] = others;
  const found = asked ?? (more.length === 0 ? only : undefined);
  if (found) return found;
  throw new HoldfastError("not_attached", `${others.length === 0 ? "nobody else is" : "several others are"} attached to ${record.name}`, {
    hint:
      others.length === 0
        ? `attach another terminal first: holdfast attach ${record.name}`
        : "name the recipient: --to PRINCIPAL, or their terminal",
    candidates: others.map(nameOf),
  });
}

/** Picks the newest of the actor's terminals. */
function taker(
  record: SessionRecord,
  { here, driver, actor, scope, to }: Driver & { here: AttachmentRecord[]; driver: AttachmentRecord | undefined; to?: string | undefined },
): AttachmentRecord {
  if (driver && driver.principal !== actor && !mayTake(record, { actor, scope })) throw notYours(record, driver);
  if (to !== undefined) return named(record, here, to);
  const own = here.filter(({ principal }) => principal === actor);
  const found = own.findLast(({ id }) => id !== driver?.id) ?? own.at(-1);
  if (found) return found;
  throw new HoldfastError("not_attached", `${actor} has no terminal on ${record.name} that can drive it`, {
    hint: `attach one: holdfast attach --take ${record.name}`,
  });
}

function checkMayDrive(rooms: Rooms, { principal }: AttachmentRecord): void {
  const scope = rooms.scopeOf(principal);
  if (scope !== undefined && grants(scope, "driver")) return;
  throw new HoldfastError(
    "forbidden",
    `${principal} ${scope === undefined ? "no longer has a token" : `has the scope ${scope}`}, and may not drive`,
    {
      hint: "create a token that may: holdfast token create --scope driver",
    },
  );
}

function reply(rooms: Rooms, record: SessionRecord, asked: boolean): ControlReply {
  const session = rooms.viewOf(record.id);
  return { session, driver: session.attachments.find(({ role }) => role === "driver") ?? null, asked };
}

/** The session's owner may take control from a driver, and so may the scope owner. */
export function mayTake({ owner }: Pick<SessionRecord, "owner">, { actor, scope }: Driver): boolean {
  return scope === "owner" || owner === actor;
}

/** Input from elsewhere would mix with the keys of the driver. */
export function refuseWhileDriven(record: SessionRecord, who: Driver): void {
  const driver = driverOf(record);
  if (!driver || driver.principal === who.actor || mayTake(record, who)) return;
  throw new HoldfastError("control_held", `${driver.principal} drives ${record.name}: nothing was typed`, {
    hint: `send a message, which waits its turn: holdfast send ${record.name}; or request control: holdfast control request ${record.name}`,
  });
}

export function driverOf({ attachments }: Pick<SessionRecord, "attachments">): Attachment | undefined {
  return attachments.find(({ role }) => role === "driver");
}

export function notYours(
  { name, owner }: Pick<SessionRecord, "name" | "owner">,
  driver: Pick<Attachment, "principal"> | undefined,
): HoldfastError {
  const who = driver?.principal ?? "nobody";
  const decides =
    who === owner ? "and owns it: only they can give control away" : `and only they and its owner ${owner} can give control away`;
  return new HoldfastError("control_held", `${who} drives ${name}, ${decides}`, {
    hint: `request control: holdfast control request ${name}`,
  });
}

function named({ name }: SessionRecord, among: readonly AttachmentRecord[], to: string): AttachmentRecord {
  const found = among.findLast(({ principal, terminal, id }) => principal === to || terminal === to || id === to);
  if (found) return found;
  throw new HoldfastError("not_attached", `${to} has no other terminal on ${name}`, {
    hint: `list its terminals: holdfast show ${name}`,
    candidates: among.map(nameOf),
  });
}

/** Shows the names that `--to` accepts. */
function nameOf({ principal, terminal, id }: AttachmentRecord): string {
  return `${principal} (${terminal ?? id})`;
}
