/** All that a program does with Holdfast, on one connection. */
import type { DaemonStatus } from "@holdfast/contract/endpoints";
import type { UsageBy } from "@holdfast/contract/status";
import type { UsageReport } from "@holdfast/contract/usage";
import { Approvals } from "./approvals.ts";
import type { HoldfastClient } from "./client.ts";
import { cursorNow, type EventOptions, followEvents, type JournalEvent } from "./follow.ts";
import { Groups } from "./groups.ts";
import { Messages } from "./messages.ts";
import { Query, type QueryOptions } from "./query.ts";
import { Sessions, type Surroundings } from "./sessions.ts";

export interface UsageOptions {
  /** The grouping of rows; `day` by default. */
  by?: UsageBy;
  since?: Date | string;
  /** Only of this session. */
  session?: string;
  /** Where days begin: `Europe/Berlin`; UTC where nothing is said. */
  timeZone?: string;
  signal?: AbortSignal;
}

/** A connection to a daemon, and all that a program does with it. `using` closes it. */
export class Holdfast implements Disposable {
  /** The daemon's every endpoint, by its name: what has no method of its own here is a `client.call`. */
  readonly client: HoldfastClient;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly messages: Messages;
  readonly groups: Groups;
  readonly #around: Surroundings;

  /** Returned by `connect`. */
  constructor(client: HoldfastClient, around: Surroundings = {}) {
    this.client = client;
    this.sessions = new Sessions(client, around);
    this.approvals = new Approvals(client);
    this.messages = new Messages(client);
    this.groups = new Groups(client);
    this.#around = around;
  }

  /** One question to an agent; it begins at once. */
  query(options: QueryOptions): Query {
    return new Query(this.client, options, { around: this.#around });
  }

  /** Events from a cursor on, until the signal aborts or the loop ends. A daemon restart leaves no gap. */
  events(options: EventOptions = {}): AsyncGenerator<JournalEvent> {
    return followEvents(this.client, options);
  }

  /** Where the journal ends now. */
  cursor(signal?: AbortSignal): Promise<string> {
    return cursorNow(this.client, signal);
  }

  /** Tokens and cost, also of sessions that were removed. */
  usage({ signal, since, ...query }: UsageOptions = {}): Promise<UsageReport> {
    const from = since instanceof Date ? since.toISOString() : since;
    return this.client.call("getUsage", { query: { ...query, since: from } }, signal);
  }

  /** The daemon, and who asks. */
  status(signal?: AbortSignal): Promise<DaemonStatus> {
    return this.client.call("status", {}, signal);
  }

  close(): void {
    this.client[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
