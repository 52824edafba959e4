/**
 * Messages to groups. The group message and the copies for its members are one transaction. From there on each copy is handled like any message to
 * that session: it waits in the mailbox of a working agent, is handed to an idle one, or waits until it is read.
 */
import {
  type GroupMessage,
  HoldfastError,
  type Message,
  newSessionId,
  type Principal,
  type SessionId,
  sessionOf,
} from "@holdfast/contract";
import type { Draft, Journal } from "../journal/journal.ts";
import type { GroupMessageQueries, GroupMessageRecord } from "../projection/group-messages.ts";
import type { GroupQueries } from "../projection/group-queries.ts";
import type { MessageQueries } from "../projection/messages.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import { derivedId } from "./derived-id.ts";
import type { Expiry } from "./expiry.ts";
import { checkText, expiryIn, type Messages, type Saying } from "./messages.ts";

export class GroupMessages {
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  readonly #groups: GroupQueries;
  readonly #log: GroupMessageQueries;
  readonly #copies: MessageQueries;
  readonly #messages: Messages;
  readonly #expiry: Expiry;
  readonly #attend: (session: SessionId) => void;

  constructor(options: {
    journal: Journal;
    sessions: SessionQueries;
    groups: GroupQueries;
    log: GroupMessageQueries;
    copies: MessageQueries;
    messages: Messages;
    expiry: Expiry;
    /** Called when there is something to hand over to a session. */
    attend(session: SessionId): void;
  }) {
    this.#journal = options.journal;
    this.#sessions = options.sessions;
    this.#groups = options.groups;
    this.#log = options.log;
    this.#copies = options.copies;
    this.#messages = options.messages;
    this.#expiry = options.expiry;
    this.#attend = options.attend;
  }

  send(
    group: string,
    { id = newSessionId(), role, steer, ...said }: Saying & { role: NonNullable<Message["role"]>; steer: boolean },
  ): GroupMessage {
    const path = this.#groups.resolve(group);
    const { text, actor } = said;
    // A sender that missed the reply asks again.
    const known = this.#log.get(id);
    if (known && known.group === path && known.text === text) return this.#view(known);
    if (known || this.#copies.get(id)) {
      throw new HoldfastError("usage", `another message has the id ${id}`, { hint: "use a new id for each message" });
    }
    checkText(text);
    const to = role === "coordinator" ? this.#coordinator(path, actor) : this.#others(path, actor);
    const { thread, facts } = this.#messages.answering(said.replyTo, { by: id, reply: text, actor });
    const sent: Draft = { type: "group.message_sent", actor, session: null, data: { group: path, id, role, text, to, ...thread } };
    const expiry = expiryIn(said.expiresMs);
    const copies = to.map((session): Draft => {
      const record = this.#sessions.resolve(session);
      const own = { id: derivedId([id, session]), group: path, role, sent: id, thread: thread.thread ?? id };
      const data = { text, steer, ...this.#messages.additionFor(record, text), ...thread, ...own, ...expiry };
      return { type: "message.queued", actor, session, data };
    });
    this.#journal.append(sent, ...copies, ...facts);
    for (const session of to) this.#attend(session);
    if (said.expiresMs !== undefined) this.#expiry.look();
    return this.get(id);
  }

  /** Tells the group's goal to its live members, or to the named ones among them. */
  tellGoal({ group, goal, actor, to }: { group: string; goal: string; actor: Principal; to?: readonly SessionId[] }): void {
    const text = `The goal of the group "${group}" is now:\n\n${goal}`;
    const sender = sessionOf(actor);
    const isMeant = (session: SessionId) => session !== sender && (to === undefined || to.includes(session));
    const told = this.#groups.members(group).filter(({ session, ended }) => !ended && isMeant(session));
    const drafts = told.map(({ session }): Draft => {
      const addition = this.#messages.additionFor(this.#sessions.resolve(session), text);
      return { type: "message.queued", actor, session, data: { id: newSessionId(), text, steer: false, ...addition } };
    });
    if (drafts.length > 0) this.#journal.append(...drafts);
    for (const { session } of told) this.#attend(session);
  }

  get(id: string): GroupMessage {
    const record = this.#log.get(id);
    if (record) return this.#view(record);
    throw new HoldfastError("message_not_found", `no group message has the id ${JSON.stringify(id)}`, {
      hint: "list them: holdfast group log GROUP",
    });
  }

  /** The group that got the message with this id. */
  groupOf(id: string): string | undefined {
    return this.#log.get(id)?.group;
  }

  /**
   * Messages to the group and between its members; the newest `limit`, oldest first. `among`: includes direct messages only between these members.
   */
  list(group: string, limit: number, among?: ReadonlySet<SessionId>): GroupMessage[] {
    const path = this.#groups.resolve(group);
    const all = this.#groups.membersBelow(path).map(({ session }) => session);
    const members = among ? all.filter((session) => among.has(session)) : all;
    // Answers to a group message are listed with it.
    const direct = this.#copies.direct(members, limit).filter(({ thread }) => this.#log.get(thread)?.group !== path);
    const said = [...this.#log.list(path, limit).map((each) => this.#view(each)), ...direct.map(({ id }) => this.#directView(path, id))];
    return said.sort((a, b) => a.at.localeCompare(b.at)).slice(-limit);
  }

  /** Each member once, however many groups below it is in; never the sender. */
  #others(path: string, actor: Principal): SessionId[] {
    const sender = sessionOf(actor);
    const others = this.#groups.membersBelow(path).filter(({ session, ended }) => !ended && session !== sender);
    if (others.length > 0) return others.map(({ session }) => session);
    throw new HoldfastError("group_empty", `no ${sender === undefined ? "" : "other "}member of ${path} is alive`, {
      hint: `list the members: holdfast group show ${path}`,
    });
  }

  #coordinator(path: string, actor: Principal): SessionId[] {
    const coordinator = this.#groups.coordinator(path);
    if (coordinator && coordinator.session !== sessionOf(actor)) return [coordinator.session];
    throw new HoldfastError("group_empty", coordinator ? `the sender itself coordinates ${path}` : `${path} has no coordinator`, {
      hint: `list the members: holdfast group show ${path}`,
    });
  }

  #directView(group: string, message: string): GroupMessage {
    const { id, from, fromName, text, thread, replyTo, queuedAt: at, session, name, state, via, reply, why } = this.#messages.get(message);
    const to = session === null ? [] : [{ session, name, message: id, state, via, reply, why }];
    return { id, group, role: "direct", from, fromName, text, thread, replyTo, at, to, answers: [] };
  }

  #view(record: GroupMessageRecord): GroupMessage {
    const to = this.#copies.copies(record.id).map(({ id, session }) => {
      const { name, state, via, reply, why } = this.#messages.get(id);
      return { session, name, message: id, state, via, reply, why };
    });
    const answers = this.#copies.answersIn(record.thread).filter(({ id }) => id !== record.thread);
    return {
      ...record,
      fromName: this.#messages.nameOf(record.from),
      to,
      answers: answers.map(({ id }) => {
        const { from, fromName, name, text, queuedAt } = this.#messages.get(id);
        return { id, from, fromName, name, text, at: queuedAt };
      }),
    };
  }
}
