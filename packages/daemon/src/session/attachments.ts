/**
 * Who is at which session. The hosts know which terminals show what, and say when that changes; here it is compared with the journal, one
 * look at a time, and the difference becomes events. So nothing depends on a client's last word, and a daemon that starts finds who came
 * and went meanwhile. A client is known by its process, which asked for the attachment before it became the session's client.
 */
import { type HostName, hasEnded, newSessionId, type Principal } from "@holdfast/contract";
import { describe, inspect, log } from "@holdfast/platform";
import { DAEMON, osUser } from "../access/principal.ts";
import { type Host, type HostClient, runMarker } from "../host/host.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { AttachmentQueries, AttachmentRecord } from "../projection/attachments.ts";
import type { SessionQueries } from "../projection/session-queries.ts";

/** For what could not be written for want of room, and a tmux that does not tell. */
const AGAIN_MS = 5000;

export class Attachments implements Disposable {
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  readonly #queries: AttachmentQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  #looking: Promise<void> | undefined;
  #again = false;
  /** Until the first look has ended, those who are found may have come while no daemon ran. */
  #isFirst = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    journal: Journal;
    sessions: SessionQueries;
    queries: AttachmentQueries;
    hosts: ReadonlyMap<HostName, Host>;
  }) {
    this.#journal = options.journal;
    this.#sessions = options.sessions;
    this.#queries = options.queries;
    this.#hosts = options.hosts;
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

  /** Resolves when the journal says who was there when this was asked. */
  look(): Promise<void> {
    if (this.#looking) {
      this.#again = true;
      return this.#looking;
    }
    this.#looking = this.#lookUntilCalm().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookUntilCalm(): Promise<void> {
    do {
      this.#again = false;
      for (const host of this.#hosts.values()) {
        try {
          await this.#compare(host);
        } catch (error) {
          log(`cannot tell who is attached on ${host.name}: ${describe(error)}`);
        }
      }
    } while (this.#again);
  }

  async #compare(host: Host): Promise<void> {
    const clients = new Map((await host.clients()).map((client) => [nameOf(client), client]));
    const known = this.#queries.all();
    const own = known.filter(({ session }) => this.#sessions.get(session)?.host === host.name);
    const gone = own.filter((each) => !clients.has(nameOf(each)));
    for (const each of own) clients.delete(nameOf(each));
    const came = [...clients.values()].flatMap((client) => this.#attached(client, known) ?? []);
    const drafts = [...gone.map(detached), ...came];
    if (drafts.length > 0) this.#journal.append(...drafts);
  }

  /** Whoever was moved here from another session is who they were there. Who never asked came by tmux itself, as only its own user can. */
  #attached(client: HostClient, known: readonly AttachmentRecord[]): Draft | undefined {
    const record = this.#sessions.get(client.session);
    if (!record || hasEnded(record.status)) return undefined;
    const start = inspect(client.pid)?.start ?? "";
    const before = known.find(({ pid, pidStart }) => pid === client.pid && pidStart === start);
    const request = before ? undefined : this.#queries.requestOf(client.session, { pid: client.pid, start });
    const principal: Principal = before?.principal ?? request?.actor ?? osUser();
    const data = {
      id: newSessionId(),
      run: client.run,
      principal,
      role: client.readOnly ? ("observer" as const) : ("driver" as const),
      since: new Date(this.#isFirst ? client.since : Date.now()).toISOString(),
      terminal: client.terminal ?? before?.terminal ?? request?.client?.terminal ?? null,
      from: before?.from ?? request?.client?.from ?? null,
      key: client.key,
      pid: client.pid,
      pidStart: start,
      readOnly: request?.readOnly ?? client.readOnly,
    };
    return { type: "session.attached", actor: DAEMON, session: client.session, data };
  }
}

/** A client that moved to another run is another attachment. */
function nameOf(client: Pick<HostClient, "session" | "run" | "key" | "pid">): string {
  return `${runMarker(client)} ${client.key} ${client.pid}`;
}

function detached({ session, run, id, principal }: AttachmentRecord): Draft {
  return { type: "session.detached", actor: DAEMON, session, data: { run, id, principal } };
}
