/** What was said here and is not in the transcript yet: it is shown as waiting, and what becomes of it is watched. One leaves after the other. */
import type { Message } from "@holdfast/contract/message";
import { newMessageId, type Talk } from "./talk.ts";

export interface Said {
  readonly id: string;
  readonly text: string;
  readonly steer: boolean;
  /** What it waits for, where somebody knows. */
  why: string | null;
}

export interface OutboxOwner {
  onChange(): void;
  /** Under which name it was said. */
  onTaken(message: Message): void;
  /** It was not said after all. */
  onFailed(said: Said, error: unknown): void;
}

/** Of one request; then it is asked again, of the next daemon if need be. */
const ONE_WAIT_MS = 4000;
const AGAIN_MS = 50;
const HELD_MS = 1000;

export class Outbox {
  readonly #owner: OutboxOwner;
  readonly #waiting: Said[] = [];
  readonly #closed = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #talk: Promise<Talk>;

  /** `talk`: when it is there. */
  constructor(talk: Promise<Talk>, owner: OutboxOwner) {
    this.#owner = owner;
    this.#talk = talk;
    // Whoever opens it tells why.
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

  /** It is in the transcript. */
  arrived(id: string): void {
    const index = this.#waiting.findIndex((said) => said.id === id);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Nothing is watched any more; what was sent stays sent. */
  close(): void {
    this.#waiting.length = 0;
    this.#closed.abort();
  }

  /** What no turn has begun with yet is taken back; whether there was anything. */
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
        const { outcome } = await import("../message-text.ts");
        return this.#owner.onFailed(said, outcome(message));
      }
      said.why = message.state === "queued" ? message.why : null;
      this.#owner.onChange();
      if (message.state !== "queued" && message.state !== "injecting") return;
      // That the daemon is gone is told by whoever follows the transcript.
      message = await talk.message(said.id, ONE_WAIT_MS, this.#closed.signal).catch(() => message);
      // One that waits for the next run is told of at once, each time.
      await new Promise((resolve) => setTimeout(resolve, message.held ? HELD_MS : AGAIN_MS));
    }
  }
}
