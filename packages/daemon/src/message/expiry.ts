/**
 * Messages that are to be handed over within a time, or not at all. What has expired and still waits fails, by the clock that nobody sets where it
 * is known; whoever is about to hand one over asks first. One timer, for the next that expires.
 */
import { msSince } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { MessageQueries, MessageRecord } from "../projection/messages.ts";

/** A clock may be set, and a timer is no longer than this anyway. */
const LONGEST_MS = 3_600_000;

export class Expiry implements Disposable {
  readonly #journal: Journal;
  readonly #messages: MessageQueries;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(options: { journal: Journal; messages: MessageQueries }) {
    this.#journal = options.journal;
    this.#messages = options.messages;
  }

  [Symbol.dispose](): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  /** Fails what has expired, and waits for what will. */
  look(): void {
    if (this.#over) return;
    const waiting = this.#messages.expiring();
    const over = waiting.filter((message) => leftMs(message) <= 0);
    const next = Math.min(...waiting.map(leftMs).filter((ms) => ms > 0));
    clearTimeout(this.#timer);
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.look(), Math.min(next, LONGEST_MS)).unref();
    if (over.length > 0) this.#journal.note(...over.map(expired));
  }
}

function leftMs({ due, expiresAt }: MessageRecord): number {
  const since = msSince(due) ?? Date.now() - Date.parse(expiresAt ?? "");
  return -since;
}

function expired({ id, session }: MessageRecord): Draft {
  const data = { id, why: "it expired before it could be delivered", hint: "send it again, with more time: --expires", known: true };
  return { type: "message.failed", actor: DAEMON, session, data };
}
