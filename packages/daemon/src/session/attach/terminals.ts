/** The terminal of a session: attachments, input and screen. */
import {
  type AttachingClient,
  type AttachPlan,
  grants,
  HoldfastError,
  type HostName,
  type Principal,
  type Scope,
  type Screen,
  type Session,
} from "@holdfast/contract";
import { describe, inspect, type KeyedMutex, log } from "@holdfast/platform";
import { sessionPrincipal } from "../../access/principal.ts";
import type { Rights } from "../../access/rights.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import { type Host, naming, parseRunMarker, type RunId, runMarker } from "../../host/host.ts";
import { type ClientKeys, parseKey } from "../../host/keys.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { runningOne, runOf } from "../run/running.ts";
import type { Attachments } from "./attachments.ts";
import { driverOf, mayTake, notYours, refuseWhileDriven } from "./driving.ts";
import type { Moving } from "./moving.ts";
import { sendText } from "./typing.ts";

interface AttachOptions {
  readOnly: boolean;
  take: boolean;
  from: string | null;
  /** True if the daemon itself is the client, for a person elsewhere. */
  remote?: boolean;
  client?: AttachingClient | undefined;
  actor: Principal;
  scope: Scope;
}

interface Attended {
  attachments: Pick<Attachments, "look" | "driverHasMark">;
  moving: Moving;
  rights: Rights;
}

export class Terminals {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #profiles: Profiles;
  readonly #keys: ClientKeys;
  readonly #hostOf: (name: HostName) => Host;
  readonly #view: (record: SessionRecord) => Session;
  #attended: Attended | undefined;
  readonly #typing: KeyedMutex;

  constructor(options: {
    journal: Journal;
    queries: SessionQueries;
    profiles: Profiles;
    keys: ClientKeys;
    hostOf(name: HostName): Host;
    view(record: SessionRecord): Session;
    /** Serializes typing into a session. */
    typing: KeyedMutex;
  }) {
    this.#typing = options.typing;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#profiles = options.profiles;
    this.#keys = options.keys;
    this.#hostOf = options.hostOf;
    this.#view = options.view;
  }

  attendWith(attended: Attended): void {
    this.#attended = attended;
  }

  /** Refuses to type into a session that another principal drives. */
  checkTyping(ref: string, who: { actor: Principal; scope: Scope }): void {
    refuseWhileDriven(this.#queries.resolve(ref), who);
  }

  /** While a session has a driver, others who attach become observers. */
  async attach(ref: string, how: AttachOptions): Promise<AttachPlan> {
    const { id } = this.#onTerminal(ref);
    await this.#attended?.attachments.look();
    const record = runningOne(this.#queries, id);
    const host = this.#hostOf(record.host);
    const driver = driverOf(record);
    const { mark } = how.client ?? {};
    const isBack =
      mark !== undefined && driver?.principal === how.actor && this.#attended?.attachments.driverHasMark(record.id, mark) === true;
    const take = how.take || isBack;
    if (driver && how.take && driver.principal !== how.actor && !mayTake(record, how)) throw notYours(record, driver);
    const mayOnlyLook = how.readOnly || !grants(how.scope, "driver") || this.#attended?.rights.mayType(how.actor, record.id) === false;
    const readOnly = mayOnlyLook || (driver !== undefined && !take);
    this.#noteAttach(record, { ...how, take, readOnly: mayOnlyLook });
    const here = how.from === null ? undefined : parseRunMarker(how.from);
    const switched = here !== undefined && (await this.#moveFrom(here, record, { ...how, readOnly: mayOnlyLook }));
    if (!switched && here?.session === record.id) {
      // A session attached inside itself would redraw without end and fill the disk.
      throw new HoldfastError("usage", `${record.name} cannot be attached inside itself`, { hint: "attach it from another terminal" });
    }
    const ways = switched
      ? { command: null, socket: null }
      : await host.attachWays(runOf(record), { readOnly, remote: how.remote === true });
    const role = readOnly ? ("observer" as const) : ("driver" as const);
    const instead = readOnly && !mayOnlyLook ? (driver?.principal ?? null) : null;
    return { session: this.#view(record), switched, role, driver: instead, ...ways, ...this.#keys };
  }

  #noteAttach(
    record: SessionRecord,
    { actor, readOnly, take, client }: Pick<AttachOptions, "actor" | "readOnly" | "take" | "client">,
  ): void {
    const start = client && inspect(client.pid)?.start;
    const data = {
      run: record.run,
      readOnly,
      ...(take && !readOnly ? { take } : {}),
      ...(client && start !== undefined ? { client: { ...client, start } } : {}),
    };
    this.#note({ type: "session.attach_requested", actor, session: record.id, data });
  }

  /**
   * Moves the terminal at which the command was typed inside `from`. Allowed for the command itself (as its session), for the terminal's principal,
   * and for an owner.
   */
  async #moveFrom(from: RunId, to: SessionRecord, how: Pick<AttachOptions, "readOnly" | "actor" | "scope">): Promise<boolean> {
    const here = this.#queries.get(from.session);
    const moving = this.#attended?.moving;
    if (!here || !moving) return false;
    const terminal = await moving.typing(from, here.name);
    const isTheirs = terminal?.attachment.principal === how.actor || sessionPrincipal(from.session) === how.actor || how.scope === "owner";
    return terminal !== undefined && isTheirs && moving.move(terminal, to, how);
  }

  /** Moves the terminal whose key was pressed to the session that has waited longest, as the principal that attached it. */
  async next(ref: string, pressed: { client: string; pid: number }): Promise<{ session: Session }> {
    const { moving, rights } = this.#attended ?? {};
    const here = runningOne(this.#queries, ref);
    if (!moving || !rights) throw new HoldfastError("not_attached", `no terminal is attached to ${here.name}`);
    const terminal = await moving.pressing(runOf(here), { key: pressed.client, pid: pressed.pid });
    const { principal, readOnly } = terminal.attachment;
    const to = runningOne(this.#queries, moving.next(principal, here.id, { chats: true }).id);
    this.#noteAttach(to, { actor: principal, readOnly: readOnly || !rights.mayType(principal, to.id), take: false });
    if (await moving.move(terminal, to, { readOnly: false })) return { session: this.#view(to) };
    throw new HoldfastError("not_attached", `the terminal no longer shows ${runMarker(runOf(here))}`);
  }

  async detach(ref: string, actor: Principal): Promise<{ session: Session; detached: number }> {
    const record = this.#onTerminal(ref);
    this.#note({ type: "session.detach_requested", actor, session: record.id, data: { run: record.run } });
    return { session: this.#view(record), detached: await this.#hostOf(record.host).detach(runOf(record)) };
  }

  /** Sends text, then Enter, without mixing it with the input of other callers. */
  send(
    ref: string,
    { actor, ...options }: { text: string; enter: boolean; force: boolean; actor: Principal },
  ): Promise<{ session: Session; bytes: number; pasted: boolean; waitingBytes: number | null }> {
    const record = this.#onTerminal(ref);
    const host = this.#hostOf(record.host);
    this.#recordInput(record, { actor, bytes: Buffer.byteLength(options.text), keys: null });
    return this.#typing.run(record.id, async () => ({
      session: this.#view(record),
      ...(await sendText(host, {
        ...options,
        enterAfterMs: this.#profiles.find(record.agent)?.enterAfterMs,
        run: runOf(record),
        name: record.name,
      }).catch(naming(record.name))),
    }));
  }

  press(
    ref: string,
    options: { keys: readonly string[]; actor: Principal },
  ): Promise<{ session: Session; pressed: number; waitingBytes: number | null }> {
    const record = this.#onTerminal(ref);
    const keys = options.keys.map(parseKey);
    this.#recordInput(record, { actor: options.actor, bytes: null, keys: keys.length });
    return this.#typing.run(record.id, async () => {
      const { waiting } = await this.#hostOf(record.host).press(runOf(record), keys).catch(naming(record.name));
      return { session: this.#view(record), pressed: keys.length, waitingBytes: waiting };
    });
  }

  /** Records the amount, never the content: it may be a password. */
  #recordInput(record: SessionRecord, { actor, ...much }: { actor: Principal; bytes: number | null; keys: number | null }): void {
    this.#note({ type: "session.input_requested", actor, session: record.id, data: { run: record.run, ...much } });
  }

  /** For the audit only: an unwritable journal (a full disk) must not block access to a running session. */
  #note(draft: Draft): void {
    try {
      this.#journal.append(draft);
    } catch (error) {
      log(`not in the journal: ${draft.type} by ${draft.actor}: ${describe(error)}`);
    }
  }

  screen(ref: string): Promise<Screen> {
    const record = this.#onTerminal(ref);
    return this.#hostOf(record.host).screen(runOf(record)).catch(naming(record.name));
  }

  #onTerminal(ref: string): SessionRecord {
    const record = runningOne(this.#queries, ref);
    if (record.kind !== "conversation") return record;
    throw new HoldfastError("has_no_terminal", `${record.name} is a conversation: it has no terminal`, {
      hint: `talk to it: holdfast chat ${record.name}; read it: holdfast transcript ${record.name}`,
    });
  }
}
