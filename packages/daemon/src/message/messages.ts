/**
 * The operations on messages. A message is in the journal before it is acknowledged, in the mailbox of a session or a person. An agent whose screen
 * can be read, or that uses a protocol, gets it when it is safe (delivery.ts, conversation/); everybody else reads their mailbox. Into a session that
 * cannot be given messages, text is typed at once, but only for a person or an ancestor of the session, and without receipts.
 *
 * Reading and handing over cannot both take a message: each writes that the message is no longer queued, without waiting for anything after its
 * check.
 */
import {
  HoldfastError,
  hasEnded,
  LONGEST_MESSAGE,
  type Message,
  type MessageState,
  moreText,
  newSessionId,
  type Principal,
  type ReadMessage,
  reachedText,
  type Session,
  type SessionId,
  type SessionStatus,
  sessionOf,
} from "@holdfast/contract";
import { bootStamp } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { GroupMessageQueries } from "../projection/group-messages.ts";
import { type MessageFilter, type MessageQueries, type MessageRecord, waitsForNextRun } from "../projection/messages.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { Sessions } from "../session/sessions.ts";
import { beginsCommand } from "../workspace/context/context.ts";
import { Arrivals } from "./arrivals.ts";
import type { Delivery } from "./delivery.ts";
import type { Expiry } from "./expiry.ts";
import type { People } from "./people.ts";
import { asTyped } from "./same-words.ts";

export type Reached = "injected" | "turn_started" | "replied";

/** A message to be sent. */
export interface Saying {
  text: string;
  id?: string | undefined;
  replyTo?: string | undefined;
  expiresMs?: number | undefined;
  actor: Principal;
}

type Thread = { replyTo?: string; thread?: string };

/** The reader of a mailbox. */
export type Reader = { session: SessionId } | { person: Principal };

const ORDER: readonly MessageState[] = ["queued", "injecting", "injected", "turn_started", "replied"];

export class Messages {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #messages: MessageQueries;
  readonly #sessions: Sessions;
  readonly #delivery: Delivery;
  readonly #attend: (session: SessionId) => void;
  readonly #expiry: Expiry;
  readonly #people: People;
  readonly #log: GroupMessageQueries;
  readonly #arrivals: Arrivals;
  readonly #nearLimit: (record: SessionRecord) => { words: string; since: number } | null;

  constructor(options: {
    journal: Journal;
    queries: SessionQueries;
    messages: MessageQueries;
    sessions: Sessions;
    delivery: Delivery;
    /** Called when there is something to hand over, before the journal announces it. */
    attend(session: SessionId): void;
    expiry: Expiry;
    people: People;
    /** Messages to groups. */
    log: GroupMessageQueries;
    /** A note for an agent near a limit of its budget, sent with its next message; and the event since when it applies. */
    nearLimit(record: SessionRecord): { words: string; since: number } | null;
  }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#messages = options.messages;
    this.#sessions = options.sessions;
    this.#delivery = options.delivery;
    this.#attend = options.attend;
    this.#expiry = options.expiry;
    this.#people = options.people;
    this.#log = options.log;
    this.#nearLimit = options.nearLimit;
    this.#arrivals = new Arrivals(options.journal);
  }

  async send(
    ref: string,
    { steer, id = newSessionId(), ...said }: Saying & { steer: boolean },
  ): Promise<{ session: Session; message: Message | null; typed: { bytes: number; pasted: boolean; waitingBytes: number | null } | null }> {
    const record = this.#queries.resolve(ref);
    const { text, actor } = said;
    if (this.isTypedAtOnce(record.id, said)) {
      if (record.standing?.attention?.for === "approval" && !hasEnded(record.status)) throw approvalWaits(record.name);
      const { session, ...typed } = await this.#sessions.terminals.send(record.id, { text, enter: true, force: false, actor });
      return { session, message: null, typed };
    }
    // A sender that missed the reply asks again, whatever has happened to the message since.
    if (!this.#isKnown(id, text, { session: record.id })) {
      refuseEnded(record);
      checkText(text);
      this.#queue({ ...said, id }, { session: record.id, data: { steer, ...this.additionFor(record, text) } });
    }
    return { session: this.#sessions.brief(record.id), message: this.get(id), typed: null };
  }

  /** The message waits until the person reads it. */
  sendToPerson(person: string, { id = newSessionId(), ...said }: Saying): Message {
    const to = this.#people.find(person, sessionOf(said.actor));
    if (!this.#isKnown(id, said.text, { person: to })) {
      checkText(said.text);
      this.#queue({ ...said, id }, { session: null, data: { steer: false, to } });
    }
    return this.get(id);
  }

  /** True if the session reports nothing about messages, and the sender could type there as well. */
  isTypedAtOnce(id: SessionId, { actor, replyTo }: Pick<Saying, "actor" | "replyTo">): boolean {
    const record = this.#queries.get(id);
    if (!record || this.#delivery.delivers(record) || replyTo !== undefined) return false;
    const sender = sessionOf(actor);
    return sender === undefined || this.#queries.descendants(sender).includes(id);
  }

  list(filter: MessageFilter): Message[] {
    return this.#messages.list(filter).map((record) => this.#view(record));
  }

  get(id: string): Message {
    return this.#view(this.#find(id));
  }

  unread(reader: Reader): number {
    return this.#messages.countUnread(reader);
  }

  /** Resolves once the message has reached that state, can get no further, or the time is over. */
  async reached(id: string, options: { until: Reached; signal: AbortSignal }): Promise<Message> {
    for (;;) {
      const { seq } = this.#journal.cursor;
      const record = this.#find(id);
      const isThere = ORDER.indexOf(record.state) >= ORDER.indexOf(options.until);
      const isOver = (!record.open && !this.#mayBeAnswered(record)) || this.#isHeld(record);
      if (isThere || isOver || options.signal.aborted) return this.#view(record);
      await this.#journal.changed(seq, options.signal);
    }
  }

  /** Reads the waiting messages, which then count as handed over; `signal` ends the wait for one. */
  async read(
    reader: Reader,
    options: { read?: string | undefined; limit: number; actor: Principal; signal: AbortSignal; isGone(): boolean },
  ): Promise<{ messages: ReadMessage[]; more: boolean }> {
    const given = options.read === undefined ? [] : this.#messages.givenTo(options.read).filter((each) => isFor(each, reader));
    if (given.length > 0) return { messages: given.map(({ id }) => this.#words(id)), more: this.unread(reader) > 0 };
    for (;;) {
      if (options.isGone()) return { messages: [], more: false };
      const taken = this.#take(reader, options);
      if (taken.length > 0) return { messages: taken.map((id) => this.#words(id)), more: this.unread(reader) > 0 };
      if (options.signal.aborted) return { messages: [], more: false };
      await this.#arrivals.in("person" in reader ? reader.person : reader.session, options.signal);
    }
  }

  #take(reader: Reader, { read, limit, actor }: { read?: string | undefined; limit: number; actor: Principal }): string[] {
    this.#expiry.look();
    const waiting = this.#messages.unread(reader, limit);
    const own = read === undefined ? {} : { read };
    const facts = waiting.map(({ id, session }): Draft => ({ type: "message.read", actor, session, data: { id, ...own } }));
    if (facts.length > 0) this.#journal.append(...facts);
    return waiting.map(({ id }) => id);
  }

  #words(id: string): ReadMessage {
    const record = this.#find(id);
    return { ...this.#view(record), words: this.#delivery.said(record) };
  }

  cancel(id: string, actor: Principal): Message {
    const record = this.#find(id);
    if (record.state !== "queued") {
      throw new HoldfastError("message_gone", `the message ${id} cannot be taken back: it is ${record.state.replace("_", " ")}`, {
        hint: record.open
          ? `interrupt the agent instead: holdfast keys ${this.get(id).name} Escape`
          : "see the state of each message: holdfast messages",
      });
    }
    this.#journal.append({ type: "message.cancelled", actor, session: record.session, data: { id } });
    return this.get(id);
  }

  /**
   * After a restore of the journal, the state of open messages is outdated: they may have been delivered since. A person reads a message twice at
   * worst.
   */
  doubtAll(): Draft[] {
    const data = {
      why: "the journal was restored to an earlier time; the message may have been delivered since",
      hint: "check its screen: holdfast screen NAME; send it again if it is not there",
      known: false,
    };
    return this.#messages
      .waiting()
      .flatMap((session) => this.#messages.open(session))
      .map(({ id, session }) => ({ type: "message.failed", actor: DAEMON, session, data: { id, ...data } }));
  }

  /** The same message sent again with the same id is the same message; a different one with that id is refused. */
  #isKnown(id: string, text: string, to: Reader): boolean {
    const known = this.#messages.get(id);
    if (this.#log.get(id) || (known && !(isFor(known, to) && known.text === text))) {
      throw new HoldfastError("usage", `another message has the id ${id}`, { hint: "use a new id for each message" });
    }
    return known !== undefined;
  }

  /** Queues the message and answers the one that it replies to, in one transaction. */
  #queue(
    { id, text, replyTo, expiresMs, actor }: Saying & { id: string },
    { session, data }: { session: SessionId | null; data: { steer: boolean; addition?: string; to?: Principal } },
  ): void {
    const { thread, facts } = this.answering(replyTo, { by: id, reply: text, actor });
    const queued: Draft = { type: "message.queued", actor, session, data: { id, text, ...data, ...thread, ...expiryIn(expiresMs) } };
    this.#journal.append(queued, ...facts);
    if (session !== null) this.#attend(session);
    if (expiresMs !== undefined) this.#expiry.look();
  }

  /** The thread of the answered message, and the events that follow for it; for a group message, for the sender's own copy. */
  answering(replyTo: string | undefined, answer: { by: string; reply: string; actor: Principal }): { thread: Thread; facts: Draft[] } {
    if (replyTo === undefined) return { thread: {}, facts: [] };
    const toAll = this.#log.get(replyTo);
    const [own] = toAll ? this.#messages.copies(replyTo).filter(({ session }) => session === sessionOf(answer.actor)) : [];
    const { thread } = toAll ?? this.#find(replyTo);
    const answered = toAll ? own : this.#find(replyTo);
    return { thread: { replyTo, thread }, facts: answered ? answers(answered, answer) : [] };
  }

  /** Notes that follow an agent's first message, and its next one once a limit of its budget is near. */
  additionFor(record: SessionRecord, text: string): { addition?: string } {
    if (!this.#delivery.delivers(record)) return {};
    const isFirst = record.turns === 0 && !this.#messages.wasSpokenTo(record.id);
    const pointer = isFirst ? this.#sessions.firstPointer(record, text) : this.#roleAgain(record);
    const notes = [pointer, beginsCommand(text) ? null : this.#nearNote(record)];
    const addition = notes.filter((note) => note !== null).join("\n\n");
    return addition === "" ? {} : { addition };
  }

  /** A conversation that was cleared or started again has forgotten its role. */
  #roleAgain({ id, kind, turns, conversation, conversations }: SessionRecord): string | null {
    const current = conversations.find((each) => each.id === conversation);
    const isNew = kind === "conversation" && turns > 0 && conversations.length > 1 && current?.turns === 0;
    return isNew && !this.#messages.wasSpokenTo(id, current.since) ? this.#sessions.roleOf(id) : null;
  }

  #nearNote(record: SessionRecord): string | null {
    const near = this.#nearLimit(record);
    return near && !this.#messages.wasAddedTo(record.id, near.since) ? near.words : null;
  }

  #find(id: string): MessageRecord {
    const record = this.#messages.get(id);
    if (record) return record;
    throw new HoldfastError("message_not_found", `there is no message ${JSON.stringify(id)}`, {
      hint: "list messages: holdfast messages",
    });
  }

  #view({ open, working: _, doubt: __, due: ___, nonce: ____, turnId: _____, ...record }: MessageRecord): Message {
    const session = record.session === null ? undefined : this.#queries.get(record.session);
    const name = session?.name ?? record.session ?? record.principal ?? "";
    const agent = session?.agent ?? "it";
    const held = this.#isHeld(record);
    const why = held ? "the session has ended; its next run gets the message" : open ? this.#waitsFor(record) : record.why;
    const hint = held ? `run holdfast resume NAME; or take it back: holdfast messages cancel ${record.id}` : record.hint;
    const named = (text: string | null) => text?.replace(/^it (?!expired)/, `${agent} `).replace(/^its /, `${agent}'s `) ?? null;
    return {
      ...record,
      held,
      settled: !open && record.state === "injected" && !this.#mayBeAnswered(record),
      name,
      fromName: this.nameOf(record.from),
      why: session ? named(why) : why,
      hint: hint?.replaceAll("NAME", name) ?? null,
    };
  }

  #isHeld({ id, state, session, role }: Pick<MessageRecord, "id" | "state" | "session" | "role">): boolean {
    if (role === "coordinator" && !this.#messages.isInLine(id)) return false;
    const record = session === null ? undefined : this.#queries.get(session);
    return state === "queued" && record !== undefined && waitsForNextRun(record);
  }

  /** A reader may still answer later, while the session exists. */
  #mayBeAnswered({ state, via, session }: Pick<MessageRecord, "state" | "via" | "session">): boolean {
    if (state !== "injected" || via !== "read") return false;
    return session === null || !hasEnded(this.#queries.get(session)?.status ?? "lost");
  }

  /** A session is shown by its current name. */
  nameOf(principal: Principal): string {
    const session = sessionOf(principal);
    return session === undefined ? principal : (this.#queries.get(session)?.name ?? session);
  }

  #waitsFor({
    id,
    session,
    state,
    steer,
    why,
    role,
    group,
  }: Pick<MessageRecord, "id" | "session" | "state" | "steer" | "why" | "role" | "group">): string | null {
    if (role === "coordinator" && !this.#messages.isInLine(id)) return `${group} has no coordinator; the message waits for the next one`;
    const record = session === null ? undefined : this.#queries.get(session);
    if (session === null || (record && !this.#delivery.delivers(record))) return "the message waits until it is read";
    if (state !== "queued") return this.#delivery.reasonOf(id) ?? why;
    const open = this.#messages.line(session);
    const before = open.slice(
      0,
      open.findIndex((message) => message.id === id),
    );
    const ahead = before.filter((other) => other.state !== "turn_started" && (!steer || other.steer || other.state !== "queued")).length;
    if (ahead > 0) return ahead === 1 ? "another message is ahead of it" : `${ahead} other messages are ahead of it`;
    if (record?.kind === "conversation") return why ?? TALK_WAITS[record.status] ?? null;
    return this.#delivery.reasonOf(id) ?? why;
  }
}

/** Why a message to a conversation is not handed over yet. */
const TALK_WAITS: Readonly<Partial<Record<SessionStatus, string>>> = {
  starting: "it is starting",
  working: "it is working; the message is delivered when the turn ends",
  waiting: "it waits for an approval; the message is delivered when the turn ends",
};

function isFor({ session, principal }: MessageRecord, to: Reader): boolean {
  return "person" in to ? principal === to.person : session === to.session;
}

/**
 * Records the recipient's answer where nothing else would: the message was read, or was handed over to an agent that reports nothing more. An answer
 * to a queued message means that it was read in a listing.
 */
function answers(message: MessageRecord, { actor, ...answer }: { by: string; reply: string; actor: Principal }): Draft[] {
  const { id, session, principal, state, open } = message;
  const isTheirs = principal === actor || (session !== null && sessionOf(actor) === session);
  if (!isTheirs || (state !== "queued" && !(state === "injected" && !open))) return [];
  const read: Draft[] = state === "queued" ? [{ type: "message.read", actor, session, data: { id } }] : [];
  return [...read, { type: "message.answered", actor, session, data: { id, ...answer } }];
}

export function expiryIn(ms: number | undefined): { expiresAt?: string; due?: string | null } {
  return ms === undefined ? {} : { expiresAt: new Date(Date.now() + ms).toISOString(), due: bootStamp(ms) };
}

function refuseEnded({ name, status, kind, restartAt, budgetExceeded: spent }: SessionRecord): void {
  if (!hasEnded(status) || restartAt !== null) return;
  if (spent) {
    const whose = spent.of?.name ?? name;
    const what = whose === name ? `${name} has used up its budget` : `${name} has ended: the budget of ${whose} is used up`;
    throw new HoldfastError("session_ended", `${what}: ${reachedText(spent)}`, {
      hint: `raise the limit: holdfast resume ${whose} --budget ${spent.limit}=${moreText(spent)}; then send the message again`,
    });
  }
  throw new HoldfastError("session_ended", `${name} has ended (${status})`, {
    hint: `continue it: holdfast resume ${name}; read its output: holdfast ${kind === "conversation" ? "transcript" : "logs"} ${name}`,
  });
}

export function checkText(text: string): void {
  // A lone Enter could confirm something.
  if (asTyped(text).trim() === "") throw new HoldfastError("usage", "the message has only control characters");
  if (text.length <= LONGEST_MESSAGE) return;
  throw new HoldfastError("usage", "a message to an agent has at most a million characters", {
    hint: "put it into a file, and tell the agent to read it",
  });
}

function approvalWaits(name: string): HoldfastError {
  return new HoldfastError("approval_waits", `${name} waits for an approval, and typed input could answer it`, {
    hint: `answer it there: holdfast attach ${name}; or type it anyway with --force`,
  });
}
