/**
 * One session, as a program has it: what was last known of it, and all that can be done with it. A terminal and a conversation are used alike;
 * what only one of them has says so (`has_no_terminal`, `not_a_conversation`).
 */
import type { PlacedEntry } from "@holdfast/contract/conversation-endpoints";
import type { Screen } from "@holdfast/contract/holder";
import type { Message } from "@holdfast/contract/message";
import type { Session as SessionRecord } from "@holdfast/contract/session";
import { hasEnded, type SessionStatus } from "@holdfast/contract/status";
import { approvalOf, type WaitingApproval } from "./approvals.ts";
import type { HoldfastClient } from "./client.ts";
import { errorOf } from "./errors.ts";
import { type EventOptions, followEntries, followEvents, type JournalEvent } from "./follow.ts";
import { type SendOptions, sendMessage } from "./messages.ts";
import { type AttachOptions, openTerminal, type Terminal } from "./terminal.ts";
import { withTimeout } from "./timeout.ts";

export interface StartOptions {
  /** Begin a new conversation in place of going on with the agent's own. */
  fresh?: boolean;
  /** Allow it more: a limit of its budget that is used up keeps it from starting. */
  budget?: { turns?: number | null; minutes?: number | null; tokens?: number | null; cost?: number | null };
  /** Variables that take the place of those of the same name, from now on: a key that was rotated. */
  env?: Record<string, string>;
}

export interface StopOptions {
  /** How long its processes have to end by themselves; then they are killed. 5000 where nothing is said. */
  graceMs?: number;
  /** Also every session that descends from it. */
  tree?: boolean;
}

export interface OutputOptions {
  /** Which run; the last one where nothing is said. */
  run?: number;
  /** From this byte on. */
  from?: number;
  signal?: AbortSignal;
}

export interface WaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** One session: what was last known of it, and all that can be done with it. */
export class Session {
  readonly #client: HoldfastClient;
  #record: SessionRecord;

  /** Returned by `holdfast.sessions`; programs do not create one. */
  constructor(client: HoldfastClient, record: SessionRecord) {
    this.#client = client;
    this.#record = record;
  }

  /** The last known state. `refresh` updates it. */
  get record(): SessionRecord {
    return this.#record;
  }

  get id(): string {
    return this.#record.id;
  }

  get name(): string {
    return this.#record.name;
  }

  /** Where it works, where that is a workspace of Holdfast's; `record.cwd` is the directory in any case. */
  get workspace(): SessionRecord["workspace"] {
    return this.#record.workspace;
  }

  /** As it was last known. */
  get status(): SessionStatus {
    return this.#record.status;
  }

  /** Asks what it is now. */
  async refresh(signal?: AbortSignal): Promise<this> {
    return this.#know(await this.#client.call("getSession", this.#named, signal));
  }

  /** Starts a session that was created with `start: false`, or the next run of one that has ended, with the agent's own conversation. */
  async start(options: StartOptions = {}): Promise<this> {
    return this.#know(await this.#client.call("resumeSession", { ...this.#named, body: options }));
  }

  /** Ends every process of its run, whatever they started; answers when all are gone. One that has ended already is left as it is. */
  async stop(options: StopOptions = {}): Promise<this> {
    try {
      const { session } = await this.#client.call("stopSession", { ...this.#named, body: options });
      return this.#know(session);
    } catch (error) {
      if ((error as { code?: string }).code !== "session_ended") throw error;
      return this.refresh();
    }
  }

  /** Removes its record and its files. It must have ended. `tree`: and all sessions that descend from it. */
  async remove(options: { tree?: boolean } = {}): Promise<void> {
    await this.#client.call("removeSession", { ...this.#named, query: options });
  }

  async rename(name: string): Promise<this> {
    return this.#know(await this.#client.call("renameSession", { ...this.#named, body: { name } }));
  }

  /** Types a line into its terminal, with Enter behind it; to a conversation it is the next turn. `send` says how far it came. */
  async sendInput(text: string, options: { enter?: boolean; force?: boolean } = {}): Promise<void> {
    if (this.#record.kind === "conversation") await this.send(text);
    else await this.#client.call("sendText", { ...this.#named, body: { text, ...options } });
  }

  /** Presses keys by their names: `Escape`, `Up`, `C-c`, `Enter`. */
  async pressKeys(...keys: string[]): Promise<void> {
    await this.#client.call("pressKeys", { ...this.#named, body: { keys } });
  }

  /** All that it said: the bytes its program printed, or the words of a conversation's agent. */
  async getOutput(options: OutputOptions = {}): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of await this.#output(options, false)) parts.push(part);
    return joined(parts);
  }

  /** The same as it comes, until its run has ended. */
  async *followOutput(options: OutputOptions = {}): AsyncGenerator<Uint8Array> {
    yield* await this.#output(options, true);
  }

  /** A conversation's entries, from a cursor on: those that are there, or with `follow` those that come too, until it has ended. */
  async *transcript(options: { after?: string; follow?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<PlacedEntry> {
    const { after = "0.0", follow = false, signal } = options;
    if (follow) return yield* followEntries(this.#client, { session: this.id, after, ...(signal ? { signal } : {}) });
    for (let cursor = after, more = true; more; ) {
      const page = await this.#client.call("readTranscript", { ...this.#named, query: { after: cursor } }, signal);
      yield* page.entries;
      more = page.more && page.cursor !== cursor;
      cursor = page.cursor;
    }
  }

  /** The current screen. */
  screen(signal?: AbortSignal): Promise<Screen> {
    return this.#client.call("getScreen", this.#named, signal);
  }

  /** Its terminal, live. */
  attach(options: AttachOptions = {}): Promise<Terminal> {
    return openTerminal(this.#client, this.id, options);
  }

  /** Says something to its agent, when that can be done safely. With `until` it answers when the message has come that far. */
  send(text: string, options: SendOptions = {}): Promise<Message> {
    return sendMessage(this.#client, this.id, { text, ...options });
  }

  /**
   * Interrupts its turn, and answers when that has ended; what the agent said so far stays. False: no turn ran. Throws `cancel_ignored` where the
   * agent keeps working. `waitMs`: how long it may take after each step; 0: it is told, and nobody looks.
   */
  async cancel(options: { waitMs?: number } = {}): Promise<boolean> {
    return (await this.#client.call("cancelTurn", { ...this.#named, body: options })).cancelled;
  }

  /** Its open approvals. */
  async approvals(): Promise<WaitingApproval[]> {
    const { approvals } = await this.#client.call("listApprovals", { query: { session: this.id } });
    return approvals.map((approval) => approvalOf(this.#client, approval));
  }

  /** Its events. */
  events(options: Omit<EventOptions, "session"> = {}): AsyncGenerator<JournalEvent> {
    return followEvents(this.#client, { ...options, session: this.id });
  }

  /**
   * Waits until it has one of these statuses, or is what a condition says. One that has ended and so will not come to it is an error
   * (`session_ended`), unless `ended` is what is waited for.
   */
  async waitFor(what: SessionStatus | "ended" | ((session: this) => boolean), options: WaitOptions = {}): Promise<this> {
    const holds =
      typeof what === "function"
        ? what
        : () => (what === "ended" ? hasEnded(this.status) && this.record.restartAt === null : this.status === what);
    return withTimeout(options, `${this.name} is not ${typeof what === "function" ? "in the awaited state" : what} yet`, async (signal) => {
      const { cursor, sessions } = await this.#client.call("listSessions", { query: { names: [this.id] } }, signal);
      if (sessions[0]) this.#know(sessions[0]);
      if (holds(this)) return this;
      for await (const event of this.events({ after: cursor, signal })) {
        if (event.type === "session.removed") throw errorOf("session_removed", `${this.name} was removed`);
        if (!/^(session|approval|turn)\./.test(event.type)) continue;
        await this.refresh(signal);
        if (holds(this)) return this;
        if (hasEnded(this.status) && this.record.restartAt === null)
          throw errorOf("session_ended", `${this.name} ended first (${this.status})`, { hint: "start() begins its next run" });
      }
      return this;
    });
  }

  /** As JSON: its record. */
  toJSON(): SessionRecord {
    return this.#record;
  }

  get #named(): { params: { ref: string } } {
    return { params: { ref: this.id } };
  }

  #know(record: SessionRecord): this {
    this.#record = record;
    return this;
  }

  async #output({ run, from, signal }: OutputOptions, follow: boolean): Promise<AsyncIterable<Uint8Array>> {
    if (this.#record.kind === "conversation") return this.#words({ follow, ...(signal ? { signal } : {}) });
    return this.#client.bytes({ ...this.#named, query: { run, from, follow } }, signal);
  }

  async *#words(options: { follow: boolean; signal?: AbortSignal }): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    for await (const { entry } of this.transcript(options)) {
      if (entry.type === "text") yield encoder.encode(entry.text);
      if (entry.type === "turn_ended") yield encoder.encode("\n");
    }
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
