/** Messages to agents, with receipts: queued, injected, turn started, replied; or failed, with the reason. */
import type { CallOf, ReplyOf } from "@holdfast/contract/endpoint";
import type { ENDPOINTS } from "@holdfast/contract/endpoints";
import type { ReadMessage } from "@holdfast/contract/message/endpoints";
import type { MessageState } from "@holdfast/contract/message/enums";
import type { Message } from "@holdfast/contract/message/message";
import type { HoldfastClient } from "./client.ts";
import { errorOf } from "./errors.ts";
import { isCode, surely } from "./follow.ts";
import { newMessageId } from "./message-id.ts";
import { withTimeout } from "./timeout.ts";

/** Receipts that a caller can wait for. */
export type Receipt = "injected" | "turn_started" | "replied";

export interface SendOptions {
  /** Send into the running turn instead of waiting for its end. */
  steer?: boolean;
  /** The caller's own id for the message: ten letters and digits. Sending again with the same id does not send a second message. */
  id?: string;
  /** The message that this one answers. */
  replyTo?: string;
  /** Deliver within this time, or not at all. */
  expiresMs?: number;
  /** Resolve when the message has reached this state; fail with `message_failed` if it cannot. */
  until?: Receipt;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface ListMessages {
  /** Only messages to this session. */
  session?: string;
  /** Only messages to the caller. */
  mine?: boolean;
  /** Only this message and the answers to it. */
  thread?: string;
  state?: readonly MessageState[];
  limit?: number;
  signal?: AbortSignal;
}

/** Longest wait of a single request; the client then repeats it. */
const WAIT_MS = 20_000;

const FAR: readonly MessageState[] = ["queued", "injecting", "injected", "turn_started", "replied"];

/** Messages to agents and their delivery state. */
export class Messages {
  readonly #client: HoldfastClient;

  /** Programs use `holdfast.messages` instead. */
  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  /** Sends a message to the agent of a session, by the session's name or id. */
  send(session: string, text: string, options: SendOptions = {}): Promise<Message> {
    return sendMessage(this.#client, session, { text, ...options });
  }

  /** Sends a message to a person: `user:NAME`, `token:NAME`, or `owner`. The message waits until the person reads it. */
  sendToPerson(person: string, text: string, options: Pick<SendOptions, "id" | "replyTo" | "expiresMs" | "signal"> = {}): Promise<Message> {
    const { signal, id = newMessageId(), ...more } = options;
    return surely(() => this.#client.call("sendToPerson", { params: { person }, body: { text, id, ...more } }, signal), signal);
  }

  /** The caller's waiting messages, oldest first. Reading a message delivers it. */
  async read(options: { limit?: number; waitMs?: number; signal?: AbortSignal } = {}): Promise<ReadMessage[]> {
    const { signal, ...how } = options;
    // A repeated request with the same id returns the same messages.
    const read = newMessageId();
    return (await surely(() => this.#client.call("readMessages", { body: { read, ...how } }, signal), signal)).messages;
  }

  /** Yields messages to the caller as they arrive. */
  async *receive(options: { signal?: AbortSignal } = {}): AsyncGenerator<ReadMessage> {
    for (;;) yield* await this.read({ waitMs: WAIT_MS, ...options });
  }

  /** The newest messages (100 by default), oldest first: to one session, to the caller (`mine`), of one thread, or all. */
  async list(options: ListMessages = {}): Promise<Message[]> {
    const { signal, state, ...query } = options;
    const { messages } = await this.#client.call("listMessages", { query: { ...query, state: state && [...state] } }, signal);
    return messages;
  }

  get(id: string, signal?: AbortSignal): Promise<Message> {
    return this.#client.call("getMessage", { params: { id } }, signal);
  }

  /** Waits until the message has reached a state; throws if it fails first. */
  wait(id: string, until: Receipt, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<Message> {
    return untilReceipt(this.#client, id, { until, ...options });
  }

  /** Cancels a queued message. */
  cancel(id: string): Promise<Message> {
    return this.#client.call("cancelMessage", { params: { id } });
  }
}

export async function sendMessage(
  client: HoldfastClient,
  ref: string,
  { text, id = newMessageId(), steer = false, replyTo, expiresMs, until, ...patience }: SendOptions & { text: string },
): Promise<Message> {
  const { message } = await surely(
    () => client.call("sendMessage", { params: { ref }, body: { text, id, steer, replyTo, expiresMs } }, patience.signal),
    patience.signal,
  );
  if (!message) {
    throw errorOf("message_unknown", "the message was typed: this program has no receipts", {
      hint: "sendInput types without a receipt",
    });
  }
  return until === undefined ? message : untilReceipt(client, message.id, { until, ...patience });
}

/**
 * Sends a message once, even if the daemon dies. If the reply is lost, the next daemon is asked for the message. If it has no such message, the first
 * error is thrown: text that is only typed has no id, and must not be typed twice.
 */
export async function sendOnce(
  client: HoldfastClient,
  ref: string,
  body: CallOf<(typeof ENDPOINTS)["sendMessage"]>["body"] & { id: string },
  signal?: AbortSignal,
): Promise<Partial<Pick<SentMessage, "session">> & Omit<SentMessage, "session">> {
  try {
    return await client.call("sendMessage", { params: { ref }, body }, signal);
  } catch (error) {
    if (signal?.aborted || !isCode(error, "daemon_unreachable")) throw error;
    const find = () => client.call("getMessage", { params: { id: body.id } }, signal);
    const message = await surely(find, signal).catch((unknown: unknown) => {
      throw isCode(unknown, "message_not_found") ? error : unknown;
    });
    return { message, typed: null };
  }
}

type SentMessage = ReplyOf<(typeof ENDPOINTS)["sendMessage"]>;

export async function untilReceipt(
  client: HoldfastClient,
  id: string,
  { until, ...patience }: { until: Receipt; timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
): Promise<Message> {
  return withTimeout(patience, `the message ${id} is not ${until} yet`, async (signal) => {
    for (;;) {
      const ask = () => client.call("getMessage", { params: { id }, query: { until, waitMs: WAIT_MS } }, signal);
      const message = await surely(ask, signal);
      if (FAR.indexOf(message.state) >= FAR.indexOf(until)) return message;
      if (message.state === "failed" || message.state === "cancelled" || message.held) throw failureOf(message);
      if (message.settled)
        throw errorOf(
          "message_unknown",
          message.why ?? "nothing more will be known about the message",
          message.hint ? { hint: message.hint } : {},
        );
    }
  });
}

function failureOf({ state, why, hint, known, held }: Message): Error {
  // The message is not lost: the session's next run receives it.
  if (held) return errorOf("session_ended", why ?? "the session has ended", hint ? { hint } : {});
  if (state === "cancelled") return errorOf("message_failed", "the message was taken back");
  return errorOf(known ? "message_failed" : "message_unknown", why ?? "the message did not reach the agent", hint ? { hint } : {});
}
