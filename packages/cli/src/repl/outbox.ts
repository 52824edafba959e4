/**
 * Messages typed here that are not in the transcript yet. They are shown as waiting, and their delivery is followed. They are sent one after
 * another.
 */
import type { Message } from "@holdfast/contract/message/message";
import { newMessageId, type Talk } from "./talk.ts";

export interface Said {
  readonly id: string;
  readonly text: string;
  readonly steer: boolean;
  /** The reason for the wait, if known. */
  why: string | null;
}

export interface OutboxOwner {
  onChange(): void;
  /** Reports the principal that sent it. */
  onTaken(message: Message): void;
  /** The message was not delivered. */
  onFailed(said: Said, error: unknown): void;
}

/** Wait of one request; then it is repeated, with the next daemon if needed. */
const ONE_WAIT_MS = 4000;
const AGAIN_MS = 50;
const HELD_MS = 1000;

export class Outbox {
  readonly #owner: OutboxOwner;
  readonly #waiting: Said[] = [];
  readonly #closed = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #talk: Promise<Talk>;

  /** `talk` resolves once the conversation is open. */
  constructor(talk: Promise<Talk>, owner: OutboxOwner) {
    this.#owner = owner;
    this.#talk = talk;
    // The caller that opens the conversation reports the error.
    talk.catch(() => {});
  }

  get waiting(): readonly Said[] {
    return this.#waiting;
  }

  put(text: string, steer: boolean): void {
    const said: Said = { id: newMessageId(), text, steer, why: null };
    this.#waiting.push(said);
    this.#sending = this.#sending.then(() => this.#send(said));
  }

  /** The message is in the transcript. */
  arrived(id: string): void {
    const index = this.#waiting.findIndex((said) => said.id === id);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Stops following; sent messages stay sent. */
  close(): void {
    this.#waiting.length = 0;
    this.#closed.abort();
  }

  /** Withdraws messages that no turn has begun with. True if there were any. */
  async takeBack(): Promise<boolean> {
    const [...all] = this.#waiting;
    const talk = await this.#talk;
    for (const { id } of all) {
      await talk.takeBack(id).catch(() => {});
      this.arrived(id);
    }
    return all.length > 0;
  }

  async #send(said: Said): Promise<void> {
    try {
      const talk = await this.#talk;
      const message = await talk.say(said.text, { id: said.id, steer: said.steer });
      this.#owner.onTaken(message);
      void this.#watch(talk, said, message);
    } catch (error) {
      if (!this.#waiting.includes(said)) return;
      this.arrived(said.id);
      this.#owner.onFailed(said, error);
    }
  }

  async #watch(talk: Talk, said: Said, sent: Message): Promise<void> {
    let message = sent;
    while (this.#waiting.includes(said)) {
      if (message.state === "failed") {
        this.arrived(said.id);
        const { outcome } = await import("../message/text.ts");
        return this.#owner.onFailed(said, outcome(message));
      }
      said.why = message.state === "queued" ? message.why : null;
      this.#owner.onChange();
      if (message.state !== "queued" && message.state !== "injecting") return;
      // The follower of the transcript reports a missing daemon.
      message = await talk.message(said.id, ONE_WAIT_MS, this.#closed.signal).catch(() => message);
      // A message held for the next run is answered at once each time.
      await new Promise((resolve) => setTimeout(resolve, message.held ? HELD_MS : AGAIN_MS));
    }
  }
}
