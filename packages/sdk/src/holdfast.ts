/** The main object of the SDK: everything a program does on one connection. */
import type { DaemonStatus } from "@holdfast/contract/daemon/endpoints";
import type { UsageBy } from "@holdfast/contract/usage/enums";
import type { UsageReport } from "@holdfast/contract/usage/usage";
import { Approvals } from "./approvals.ts";
import type { HoldfastClient } from "./client.ts";
import { cursorNow, type EventOptions, followEvents, type JournalEvent } from "./follow.ts";
import { Groups } from "./groups.ts";
import { Messages } from "./messages.ts";
import { Query } from "./query.ts";
import type { QueryOptions } from "./query-types.ts";
import { Sessions, type Surroundings } from "./sessions.ts";

export interface UsageOptions {
  /** How to group rows; `day` by default. */
  by?: UsageBy;
  since?: Date | string;
  /** Only usage of this session. */
  session?: string;
  /** Time zone in which days begin, such as `Europe/Berlin`; UTC by default. */
  timeZone?: string;
  signal?: AbortSignal;
}

/** A connection to a daemon. `using` closes it. */
export class Holdfast implements Disposable {
  /** Every endpoint of the daemon by name. Use `client.call` for those without their own method. */
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

  /** Asks an agent one question. The query starts at once. */
  query(options: QueryOptions): Query {
    return new Query(this.client, options, { around: this.#around });
  }

  /** Events from a cursor on, until the signal aborts or the loop ends. A daemon restart leaves no gap. */
  events(options: EventOptions = {}): AsyncGenerator<JournalEvent> {
    return followEvents(this.client, options);
  }

  /** The journal's current end. */
  cursor(signal?: AbortSignal): Promise<string> {
    return cursorNow(this.client, signal);
  }

  /** Tokens and cost, including those of removed sessions. */
  usage({ signal, since, ...query }: UsageOptions = {}): Promise<UsageReport> {
    const from = since instanceof Date ? since.toISOString() : since;
    return this.client.call("getUsage", { query: { ...query, since: from } }, signal);
  }

  /** State of the daemon, and the caller's identity. */
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
