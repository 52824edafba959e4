/**
 * Tracks which terminals are attached to each session, and which one drives. The hosts report which terminals show a session, and when that changes.
 * Each look compares their report with the journal and writes the difference as events; looks run one at a time. So nothing depends on a client's
 * last message, and a daemon that starts finds who came and went meanwhile. A client is identified by its process, which requested the attachment
 * before it became the session's client. A change of driver is written first and then applied to the hosts: the next look repeats what a crash
 * interrupted.
 *
 * Each look also enforces the rights of each terminal's principal, however it came to show the session: a terminal that may not type never drives,
 * and one that may not see the session is detached.
 */
import { type HostName, hasEnded, newSessionId, type Principal, type SessionId } from "@holdfast/contract";
import { describe, inspect, log } from "@holdfast/platform";
import { DAEMON, osUser } from "../../access/principal.ts";
import type { Rights } from "../../access/rights.ts";
import { type Host, type HostClient, type RunId, runMarker } from "../../host/host.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { AttachmentQueries, AttachmentRecord, AttachRequest } from "../../projection/attachments.ts";
import type { SessionQueries } from "../../projection/session-queries.ts";
import { type Present, whoDrives } from "./who-drives.ts";

/** Interval of looks, for writes that failed on a full disk and for a tmux that does not report. */
const AGAIN_MS = 5000;

interface Here extends Present {
  client: HostClient;
  attachment: AttachmentRecord;
  isNew: boolean;
}

/** A terminal that shows a session. `show`: set if the daemon opened the terminal for a person elsewhere, and moves it itself. */
export interface Attached {
  host: Host;
  client: HostClient;
  attachment: AttachmentRecord;
  show: ((session: SessionId, options: { readOnly: boolean }) => Promise<void>) | undefined;
}

/** `upTo`: the position in the journal when they left. */
export interface Left {
  session: SessionId;
  principal: Principal;
  upTo: number;
}

/** A client of the daemon itself, which stands for a person elsewhere. */
export interface Proxy {
  request: AttachRequest;
  /** Says whether the person may type from now on. */
  onPart(part: { readOnly: boolean }): void;
  show: NonNullable<Attached["show"]>;
}

type Change = { actor: Principal; how: "given" | "taken" };

export class Attachments implements Disposable {
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  readonly #queries: AttachmentQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;
  /** Until the first look has ended, clients may have attached while no daemon ran. */
  #isFirst = true;
  /** The last list of attached people that each session's clients were shown. */
  readonly #shown = new Map<SessionId, string>();
  readonly #troubles = new Map<HostName, string | undefined>();
  readonly #vouched = new Map<string, Proxy>();
  readonly #rights: Rights;
  readonly #onLeft: (left: Left) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    journal: Journal;
    sessions: SessionQueries;
    queries: AttachmentQueries;
    hosts: ReadonlyMap<HostName, Host>;
    rights: Rights;
    /** Called when a person left a session by a key: they have seen what happened there. */
    onLeft(left: Left): void;
  }) {
    this.#journal = options.journal;
    this.#sessions = options.sessions;
    this.#queries = options.queries;
    this.#hosts = options.hosts;
    this.#rights = options.rights;
    this.#onLeft = options.onLeft;
  }

  async begin(): Promise<void> {
    for (const host of this.#hosts.values()) {
      host.onClients(() => void this.look());
      host.onLost(() => void this.look());
    }
    await this.look();
    this.#isFirst = false;
    this.#timer = setInterval(() => void this.look(), AGAIN_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Resolves when the journal shows who was attached at the time of the call. Calls that arrive while a look is pending share it. */
  look(): Promise<void> {
    this.#next ??= this.#oneAtATime(async () => {
      this.#next = undefined;
      for (const host of this.#hosts.values()) {
        const trouble = await this.#compare(host).then(
          () => undefined,
          (error: unknown) => describe(error),
        );
        // Log the same error only once, not every few seconds, for example on a full disk.
        if (trouble !== undefined && trouble !== this.#troubles.get(host.name))
          log(`cannot list the terminals on ${host.name}: ${trouble}`);
        this.#troubles.set(host.name, trouble);
      }
    });
    return this.#next;
  }

  /** The current attachments of a session, oldest first. */
  async of(session: SessionId): Promise<AttachmentRecord[]> {
    await this.look();
    return this.#queries.of(session);
  }

  /** The terminals that show a run now, each with its attachment. */
  async at(run: RunId): Promise<Attached[]> {
    await this.look();
    const host = this.#hosts.get(this.#sessions.get(run.session)?.host ?? "tmux");
    const known = this.#queries.of(run.session);
    const clients = (await host?.clients()) ?? [];
    return clients.flatMap((client) => {
      const attachment = known.find((each) => each.run === run.run && nameOf(each) === nameOf(client));
      if (!host || !attachment) return [];
      return [{ host, client, attachment, show: this.#vouched.get(`${attachment.pid} ${attachment.pidStart}`)?.show }];
    });
  }

  /** Registers a client of the daemon, which did not request its attachment itself, until it is disposed. */
  vouch({ pid, start }: { pid: number; start: string }, proxy: Proxy): Disposable {
    this.#vouched.set(`${pid} ${start}`, proxy);
    return { [Symbol.dispose]: () => void this.#vouched.delete(`${pid} ${start}`) };
  }

  /** True if the driver came with this mark: after a broken connection it is the same person, who wants to drive again. */
  driverHasMark(session: SessionId, mark: string): boolean {
    const driver = this.#queries.of(session).find(({ role }) => role === "driver");
    return driver !== undefined && this.#queries.requestOf(session, { pid: driver.pid, start: driver.pidStart })?.client?.mark === mark;
  }

  /** Makes this attachment the driver. */
  change(session: SessionId, to: AttachmentRecord, change: Change): Promise<void> {
    return this.#oneAtATime(async () => {
      const record = this.#sessions.get(session);
      const host = record && this.#hosts.get(record.host);
      if (!host) return;
      const before = this.#queries.of(session).find(({ role }) => role === "driver");
      if (before?.id === to.id) return;
      this.#journal.append(changed(to, { to, from: before?.principal ?? null, ...change }));
      await this.#compare(host);
    });
  }

  /** Shows a line on an attached terminal. */
  tell(session: SessionId, id: string, text: string): Promise<void> {
    return this.#oneAtATime(async () => {
      const host = this.#hosts.get(this.#sessions.get(session)?.host ?? "tmux");
      if (host) await this.#tell(host, session, id, text);
    });
  }

  /** The line stays until a person returns to the terminal. */
  async #tell(host: Host, session: SessionId, id: string, text: string): Promise<void> {
    const attachment = this.#queries.of(session).find((each) => each.id === id);
    const client = attachment && (await host.clients()).find((each) => nameOf(each) === nameOf(attachment));
    if (client) await host.tell(client, text, { stays: true }).catch((error: unknown) => log(`session ${session}: ${describe(error)}`));
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #compare(host: Host): Promise<void> {
    const clients = await host.clients();
    const all = this.#queries.all();
    const known = all.filter(({ session }) => this.#sessions.get(session)?.host === host.name);
    const sessions = new Set([...known, ...clients].map(({ session }) => session));
    for (const session of sessions) {
      const there = this.#here(
        clients.filter((client) => client.session === session),
        all,
      );
      const here = there.filter(({ attachment }) => this.#rights.maySee(attachment.principal, session));
      for (const each of there) if (!here.includes(each)) await this.#sendAway(host, each);
      const gone = known.filter((each) => each.session === session && !here.some(({ attachment }) => attachment.id === each.id));
      await this.#settle(host, { session, here, gone });
      const upTo = this.#journal.cursor.seq;
      for (const each of gone) void this.#noteLeft(host, each, { upTo, moved: clients.some(({ pid }) => pid === each.pid) });
    }
  }

  async #sendAway(host: Host, { client, attachment }: Here): Promise<void> {
    log(`session ${client.session}: a terminal of ${attachment.principal}, who may not see it, was detached`);
    await host.dismiss(client);
  }

  /** Skips the first look: nobody knows when people left while no daemon ran. */
  async #noteLeft(host: Host, left: AttachmentRecord, { upTo, moved }: { upTo: number; moved: boolean }): Promise<void> {
    if (this.#isFirst || left.principal.startsWith("session:")) return;
    if (moved || (await host.leftByKey(left))) this.#onLeft({ session: left.session, principal: left.principal, upTo });
  }

  /** In the order of arrival. */
  #here(clients: readonly HostClient[], known: readonly AttachmentRecord[]): Here[] {
    const here = clients.flatMap((client): Here[] => {
      const found = known.find((each) => nameOf(each) === nameOf(client));
      const { attachment, takes } = found ? { attachment: found, takes: false } : this.#newcomer(client, known);
      if (!attachment) return [];
      const recorded = found?.role === "driver";
      const mayType = this.#rights.mayType(attachment.principal, client.session);
      return [{ client, attachment, isNew: !found, takes, recorded, drives: !client.readOnly, readOnly: attachment.readOnly, mayType }];
    });
    return here.sort((a, b) => Number(a.isNew) - Number(b.isNew) || known.indexOf(a.attachment) - known.indexOf(b.attachment));
  }

  /** A client that moved here from another session keeps its principal. A client that never asked came through tmux, as only its own user can. */
  #newcomer(client: HostClient, known: readonly AttachmentRecord[]): { attachment: AttachmentRecord | undefined; takes: boolean } {
    const record = this.#sessions.get(client.session);
    if (!record || hasEnded(record.status)) return { attachment: undefined, takes: false };
    const start = inspect(client.pid)?.start ?? "";
    const before = known.find(({ pid, pidStart }) => pid === client.pid && pidStart === start);
    const vouched = this.#vouched.get(`${client.pid} ${start}`);
    const request = before ? undefined : (vouched?.request ?? this.#queries.requestOf(client.session, { pid: client.pid, start }));
    const attachment: AttachmentRecord = {
      id: newSessionId(),
      session: client.session,
      run: client.run,
      principal: before?.principal ?? request?.actor ?? osUser(),
      role: client.readOnly ? "observer" : "driver",
      since: new Date(this.#isFirst ? client.since : Date.now()).toISOString(),
      terminal: vouched
        ? (vouched.request.client?.terminal ?? null)
        : (client.terminal ?? before?.terminal ?? request?.client?.terminal ?? null),
      from: before?.from ?? request?.client?.from ?? null,
      key: client.key,
      pid: client.pid,
      pidStart: start,
      // A client that only observed one session gets no more rights on the next.
      readOnly: request?.readOnly ?? (before?.readOnly || client.readOnly),
    };
    return { attachment, takes: request?.take === true && !client.readOnly };
  }

  #proxyOf({ attachment: { pid, pidStart } }: Here): Proxy | undefined {
    return this.#vouched.get(`${pid} ${pidStart}`);
  }

  async #settle(host: Host, now: { session: SessionId; here: readonly Here[]; gone: readonly AttachmentRecord[] }): Promise<void> {
    const driver = whoDrives(now.here);
    const drafts = draftsOf(now, driver);
    if (drafts.length > 0) this.#journal.append(...drafts);
    const ask = `; to ask for control: holdfast control request ${this.#sessions.get(now.session)?.name ?? now.session}`;
    // Demote the previous driver first: with two drivers, both sizes would count.
    const wrong = now.here.filter((each) => each.drives !== (each === driver)).sort((a, b) => Number(b.drives) - Number(a.drives));
    for (const each of wrong) await host.setPart(each.client, { readOnly: each !== driver });
    for (const each of now.here) this.#proxyOf(each)?.onPart({ readOnly: each !== driver });
    const people = { driver: driver?.attachment.principal ?? null, observers: now.here.length - (driver ? 1 : 0) };
    const [first] = now.here;
    if (!first) this.#shown.delete(now.session);
    else if (this.#shown.get(now.session) !== JSON.stringify([first.client.run, people])) {
      this.#shown.set(now.session, JSON.stringify([first.client.run, people]));
      await host.showPeople(first.client, people);
    }
    for (const each of wrong) {
      const text = each === driver ? "you drive now" : `${driver?.attachment.principal ?? "nobody"} drives now; you are watching${ask}`;
      await host.tell(each.client, text).catch((error: unknown) => log(`session ${now.session}: ${describe(error)}`));
    }
  }
}

function draftsOf({ here, gone }: { here: readonly Here[]; gone: readonly AttachmentRecord[] }, driver: Here | undefined): Draft[] {
  const left = gone.map(({ session, run, id, principal }): Draft => {
    return { type: "session.detached", actor: DAEMON, session, data: { run, id, principal } };
  });
  const came = here.filter(({ isNew }) => isNew).map((each) => attached(each.attachment, each === driver));
  const before = gone.find(({ role }) => role === "driver") ?? here.find(({ recorded }) => recorded)?.attachment;
  const [first] = here;
  // A first driver who has just attached is already in the attach event.
  const isNews = first !== undefined && before?.id !== driver?.attachment.id && (before !== undefined || driver?.isNew === false);
  if (!isNews) return [...left, ...came];
  const how = driver?.isNew ? "attached" : "left";
  return [...left, ...came, changed(first.attachment, { to: driver?.attachment, from: before?.principal ?? null, actor: DAEMON, how })];
}

function attached({ session, ...attachment }: AttachmentRecord, drives: boolean): Draft {
  return { type: "session.attached", actor: DAEMON, session, data: { ...attachment, role: drives ? "driver" : "observer" } };
}

function changed(
  { session, run }: AttachmentRecord,
  {
    to,
    from,
    actor,
    how,
  }: { to: AttachmentRecord | undefined; from: Principal | null; actor: Principal; how: "given" | "taken" | "left" | "attached" },
): Draft {
  const driver = to ? { id: to.id, principal: to.principal } : null;
  return { type: "session.control_changed", actor, session, data: { run, driver, from, how } };
}

/** A client that moved to another run is a new attachment. */
function nameOf(client: Pick<HostClient, "session" | "run" | "key" | "pid">): string {
  return `${runMarker(client)} ${client.key} ${client.pid}`;
}
