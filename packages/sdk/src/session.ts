/**
 * One session: its last known state and its methods. Terminals and conversations share most methods; a method that needs the other kind fails with
 * `has_no_terminal` or `not_a_conversation`.
 */
import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { Message } from "@holdfast/contract/message/message";
import type { Session as SessionRecord } from "@holdfast/contract/session/session";
import { hasEnded, type SessionStatus } from "@holdfast/contract/session/status";
import type { Screen } from "@holdfast/contract/terminal/holder";
import { approvalOf, type WaitingApproval } from "./approvals.ts";
import type { HoldfastClient } from "./client.ts";
import { errorOf } from "./errors.ts";
import { type EventOptions, followEntries, followEvents, type JournalEvent } from "./follow.ts";
import { type SendOptions, sendMessage } from "./messages.ts";
import { type AttachOptions, openTerminal, type Terminal } from "./terminal.ts";
import { withTimeout } from "./timeout.ts";

export interface StartOptions {
  /** Begin a new conversation instead of continuing the agent's last one. */
  fresh?: boolean;
  /** Raise the budget: a session cannot start while a limit is used up. */
  budget?: { turns?: number | null; minutes?: number | null; tokens?: number | null; cost?: number | null };
  /** Variables to add or replace from now on, such as a rotated key. */
  env?: Record<string, string>;
}

export interface StopOptions {
  /** Time for processes to end before they are killed; 5000 by default. */
  graceMs?: number;
  /** Also stop every session that descends from this one. */
  tree?: boolean;
}

export interface OutputOptions {
  /** Number of the run; the last run by default. */
  run?: number;
  /** First byte to read. */
  from?: number;
  signal?: AbortSignal;
}

export interface WaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** One session: its last known state and its methods. */
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

  /** The session's workspace, if Holdfast manages one. `record.cwd` is the working directory in any case. */
  get workspace(): SessionRecord["workspace"] {
    return this.#record.workspace;
  }

  /** The last known status. `refresh` updates it. */
  get status(): SessionStatus {
    return this.#record.status;
  }

  /** Fetches the current state. */
  async refresh(signal?: AbortSignal): Promise<this> {
    return this.#know(await this.#client.call("getSession", this.#named, signal));
  }

  /** Starts a session that was created with `start: false`, or the next run of an ended session, which continues the agent's conversation. */
  async start(options: StartOptions = {}): Promise<this> {
    return this.#know(await this.#client.call("resumeSession", { ...this.#named, body: options }));
  }

  /** Stops every process of the run, including all descendants, and resolves when all are gone. Does nothing if the session has ended. */
  async stop(options: StopOptions = {}): Promise<this> {
    try {
      const { session } = await this.#client.call("stopSession", { ...this.#named, body: options });
      return this.#know(session);
    } catch (error) {
      if ((error as { code?: string }).code !== "session_ended") throw error;
      return this.refresh();
    }
  }

  /** Removes the record and the files of an ended session. `tree`: also of all sessions that descend from it. */
  async remove(options: { tree?: boolean } = {}): Promise<void> {
    await this.#client.call("removeSession", { ...this.#named, query: options });
  }

  async rename(name: string): Promise<this> {
    return this.#know(await this.#client.call("renameSession", { ...this.#named, body: { name } }));
  }

  /** Types a line into the terminal and presses Enter. In a conversation the line is the next turn. `send` returns receipts. */
  async sendInput(text: string, options: { enter?: boolean; force?: boolean } = {}): Promise<void> {
    if (this.#record.kind === "conversation") await this.send(text);
    else await this.#client.call("sendText", { ...this.#named, body: { text, ...options } });
  }

  /** Presses keys by name: `Escape`, `Up`, `C-c`, `Enter`. */
  async pressKeys(...keys: string[]): Promise<void> {
    await this.#client.call("pressKeys", { ...this.#named, body: { keys } });
  }

  /** The complete output of a run: the bytes its program printed, or the text of a conversation's agent. */
  async getOutput(options: OutputOptions = {}): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of await this.#output(options, false)) parts.push(part);
    return joined(parts);
  }

  /** The same output as it arrives, until the run ends. */
  async *followOutput(options: OutputOptions = {}): AsyncGenerator<Uint8Array> {
    yield* await this.#output(options, true);
  }

  /** Entries of a conversation after a cursor: the existing ones or, with `follow`, also new ones until the conversation ends. */
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

  /** Attaches to the session's terminal. */
  attach(options: AttachOptions = {}): Promise<Terminal> {
    return openTerminal(this.#client, this.id, options);
  }

  /** Sends a message to the agent, delivered when it is safe. With `until` it resolves when the message has reached that state. */
  send(text: string, options: SendOptions = {}): Promise<Message> {
    return sendMessage(this.#client, this.id, { text, ...options });
  }

  /**
   * Interrupts the turn and resolves when it has ended; the agent's text so far is kept. False if no turn was running. Throws `cancel_ignored` if the
   * agent keeps working. `waitMs` limits the wait after each step; 0 does not wait.
   */
  async cancel(options: { waitMs?: number } = {}): Promise<boolean> {
    return (await this.#client.call("cancelTurn", { ...this.#named, body: options })).cancelled;
  }

  /** The session's open approvals. */
  async approvals(): Promise<WaitingApproval[]> {
    const { approvals } = await this.#client.call("listApprovals", { query: { session: this.id } });
    return approvals.map((approval) => approvalOf(this.#client, approval));
  }

  /** The session's events. */
  events(options: Omit<EventOptions, "session"> = {}): AsyncGenerator<JournalEvent> {
    return followEvents(this.#client, { ...options, session: this.id });
  }

  /** Waits for a status, `ended` or a condition. Throws `session_ended` if the session ends first. */
  async waitFor(what: SessionStatus | "ended" | ((session: this) => boolean), options: WaitOptions = {}): Promise<this> {
    const holds =
      typeof what === "function"
        ? what
        : () => (what === "ended" ? hasEnded(this.status) && this.record.restartAt === null : this.status === what);
    return withTimeout(options, `${this.name} is not ${typeof what === "function" ? "in the awaited state" : what} yet`, async (signal) => {
      const { cursor, sessions } = await this.#client.call("listSessions", { query: { names: [this.id] } }, signal);
      if (sessions[0]) this.#know(sessions[0]);
      const reached = () => {
        if (holds(this)) return true;
        if (hasEnded(this.status) && this.record.restartAt === null)
          throw errorOf("session_ended", `${this.name} ended first (${this.status})`, { hint: "start() begins its next run" });
        return false;
      };
      if (reached()) return this;
      for await (const event of this.events({ after: cursor, signal })) {
        if (event.type === "session.removed") throw errorOf("session_removed", `${this.name} was removed`);
        if (!/^(session|approval|turn)\./.test(event.type)) continue;
        await this.refresh(signal);
        if (reached()) return this;
      }
      return this;
    });
  }

  /** The session's record, as JSON. */
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
