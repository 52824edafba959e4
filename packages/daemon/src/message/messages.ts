/**
 * The verbs on messages. A message to an agent whose screen can be read is queued, and has receipts; anything else is typed at once, as
 * `holdfast send --force` does, and nothing is promised of it.
 */
import {
  HoldfastError,
  hasEnded,
  LONGEST_MESSAGE,
  type Message,
  type MessageState,
  newSessionId,
  type Principal,
  type Session,
  type SessionId,
  type SessionStatus,
} from "@holdfast/contract";
import { DAEMON } from "../access/principal.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import { type MessageQueries, type MessageRecord, waitsForNextRun } from "../projection/messages.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Delivery } from "./delivery.ts";
import { asTyped } from "./same-words.ts";

export type Reached = "injected" | "turn_started" | "replied";

const ORDER: readonly MessageState[] = ["queued", "injecting", "injected", "turn_started", "replied"];

export class Messages {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #messages: MessageQueries;
  readonly #sessions: Sessions;
  readonly #delivery: Delivery;
  readonly #attend: (session: SessionId) => void;

  constructor(options: {
    journal: Journal;
    queries: SessionQueries;
    messages: MessageQueries;
    sessions: Sessions;
    delivery: Delivery;
    /** There is something to hand over to it: sooner than the journal tells it. */
    attend(session: SessionId): void;
  }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#messages = options.messages;
    this.#sessions = options.sessions;
    this.#delivery = options.delivery;
    this.#attend = options.attend;
  }

  async send(
    ref: string,
    { text, steer, id = newSessionId(), actor }: { text: string; steer: boolean; id?: string | undefined; actor: Principal },
  ): Promise<{ session: Session; message: Message | null; typed: { bytes: number; pasted: boolean; waitingBytes: number | null } | null }> {
    const record = this.#queries.resolve(ref);
    if (this.isTypedAtOnce(record.id)) {
      if (record.standing?.attention?.for === "approval" && !hasEnded(record.status)) throw approvalWaits(record.name);
      const { session, ...typed } = await this.#sessions.send(record.id, { text, enter: true, force: false, actor });
      return { session, message: null, typed };
    }
    const known = this.#messages.get(id);
    if (known && (known.session !== record.id || known.text !== text)) {
      throw new HoldfastError("usage", `another message has the id ${id}`, { hint: "take a new one for each message" });
    }
    // Whoever did not hear the reply asks again, whatever has become of it since.
    if (known) return { session: this.#sessions.brief(record.id), message: this.get(id), typed: null };
    if (hasEnded(record.status) && record.restartAt === null) {
      const isTalk = record.kind === "conversation";
      throw new HoldfastError("session_ended", `${record.name} has ended (${record.status})`, {
        hint: isTalk ? `go on with it: holdfast resume ${record.name}` : `read what it said: holdfast logs ${record.name}`,
      });
    }
    // A lone Enter could say yes to something.
    if (asTyped(text).trim() === "") throw new HoldfastError("usage", "there is nothing to send but control characters");
    if (text.length > LONGEST_MESSAGE) {
      throw new HoldfastError("usage", "a message to an agent has at most a million characters", {
        hint: "put it into a file, and tell the agent to read that",
      });
    }
    const addition = this.#messages.wasSpokenTo(record.id) ? null : this.#sessions.firstPointer(record, text);
    const data = { id, text, steer, ...(addition === null ? {} : { addition }) };
    this.#journal.append({ type: "message.queued", actor, session: record.id, data });
    this.#attend(record.id);
    return { session: this.#sessions.brief(record.id), message: this.get(id), typed: null };
  }

  /** Nothing tells what it does with a message. */
  isTypedAtOnce(id: SessionId): boolean {
    const record = this.#queries.get(id);
    return record !== undefined && !this.#delivery.delivers(record);
  }

  list(filter: { session?: SessionId | undefined; states?: readonly MessageState[] | undefined; limit: number }): Message[] {
    return this.#messages.list(filter).map((record) => this.#view(record));
  }

  get(id: string): Message {
    return this.#view(this.#find(id));
  }

  /** Once it has come that far or can come no further, or when the time is over. */
  async reached(id: string, options: { until: Reached; signal: AbortSignal }): Promise<Message> {
    for (;;) {
      const { seq } = this.#journal.cursor;
      const record = this.#find(id);
      const isThere = ORDER.indexOf(record.state) >= ORDER.indexOf(options.until);
      if (!record.open || isThere || this.#isHeld(record) || options.signal.aborted) return this.#view(record);
      await this.#journal.changed(seq, options.signal);
    }
  }

  cancel(id: string, actor: Principal): Message {
    const record = this.#find(id);
    if (record.state !== "queued") {
      throw new HoldfastError("message_gone", `the message ${id} cannot be taken back: it is ${record.state.replace("_", " ")}`, {
        hint: record.open
          ? `interrupt the agent instead: holdfast keys ${this.get(id).name} Escape`
          : "what became of each: holdfast messages",
      });
    }
    this.#journal.append({ type: "message.cancelled", actor, session: record.session, data: { id } });
    return this.get(id);
  }

  /** After a restore of the journal: what it says of open messages is of an earlier time, and much may have been said since. */
  doubtAll(): Draft[] {
    const data = {
      why: "the journal was restored from an earlier time; it may have been delivered since",
      hint: "see what it shows: holdfast screen NAME; then send it again if it is not there",
      known: false,
    };
    return this.#messages
      .waiting()
      .flatMap((session) => this.#messages.open(session))
      .map(({ id, session }) => ({ type: "message.failed", actor: DAEMON, session, data: { id, ...data } }));
  }

  #find(id: string): MessageRecord {
    const record = this.#messages.get(id);
    if (record) return record;
    throw new HoldfastError("message_not_found", `there is no message ${JSON.stringify(id)}`, {
      hint: "list them with: holdfast messages",
    });
  }

  #view({ open, working: _, ...record }: MessageRecord): Message {
    const { name = record.session, agent = "it" } = this.#queries.get(record.session) ?? {};
    const held = this.#isHeld(record);
    const why = held ? "the session has ended; its next run is given the message" : open ? this.#waitsFor(record) : record.why;
    const hint = held ? `holdfast resume NAME; or take it back: holdfast messages cancel ${record.id}` : record.hint;
    const named = (text: string | null) => text?.replace(/^it /, `${agent} `).replace(/^its /, `${agent}'s `) ?? null;
    return {
      ...record,
      held,
      settled: !open && record.state === "injected",
      name,
      why: named(why),
      hint: hint?.replaceAll("NAME", name) ?? null,
    };
  }

  #isHeld({ state, session }: Pick<MessageRecord, "state" | "session">): boolean {
    const record = this.#queries.get(session);
    return state === "queued" && record !== undefined && waitsForNextRun(record);
  }

  #waitsFor({ id, session, state, steer, why }: Omit<MessageRecord, "open" | "working">): string | null {
    if (state !== "queued") return this.#delivery.reasonOf(id) ?? why;
    const open = this.#messages.open(session);
    const before = open.slice(
      0,
      open.findIndex((message) => message.id === id),
    );
    const ahead = before.filter((other) => other.state !== "turn_started" && (!steer || other.steer || other.state !== "queued")).length;
    if (ahead > 0) return ahead === 1 ? "another message is ahead of it" : `${ahead} other messages are ahead of it`;
    const { kind, status } = this.#queries.get(session) ?? {};
    if (kind === "conversation") return why ?? TALK_WAITS[status ?? "unknown"] ?? null;
    return this.#delivery.reasonOf(id) ?? why;
  }
}

/** Why what is said to a conversation is not handed over yet. */
const TALK_WAITS: Readonly<Partial<Record<SessionStatus, string>>> = {
  starting: "it is starting",
  working: "it is working; the message is handed over when the turn ends",
  waiting: "it waits for an approval; the message is handed over when the turn ends",
};

function approvalWaits(name: string): HoldfastError {
  return new HoldfastError("approval_waits", `${name} asks for leave, and what is typed could give it`, {
    hint: `answer it there: holdfast attach ${name}; or type it all the same, with --force`,
  });
}
