/**
 * Fails queued messages that have expired, by a monotonic clock if known. Whoever is about to hand a message over checks first. One timer, for the
 * next message that expires.
 */
import { msSince } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { MessageQueries, MessageRecord } from "../projection/messages.ts";

/** The clock may be set, so no timer is longer than this. */
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

  /** Fails expired messages, and sets the timer for the next one. */
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
