/** Messages to agents, with receipts: queued, injected, turn started, replied; or failed, with why. */
import type { CallOf, ReplyOf } from "@holdfast/contract/endpoint";
import type { ENDPOINTS } from "@holdfast/contract/endpoints";
import type { Message } from "@holdfast/contract/message";
import type { ReadMessage } from "@holdfast/contract/message-endpoints";
import type { MessageState } from "@holdfast/contract/status";
import type { HoldfastClient } from "./client.ts";
import { errorOf } from "./errors.ts";
import { isCode, surely } from "./follow.ts";
import { newMessageId } from "./message-id.ts";
import { withTimeout } from "./timeout.ts";

/** How far a message can be waited for. */
export type Receipt = "injected" | "turn_started" | "replied";

export interface SendOptions {
  /** Do not wait for the end of a turn. */
  steer?: boolean;
  /** The caller's own id for it: sent again with the same one, it is the same message. Ten letters and digits. */
  id?: string;
  /** The message that it answers. */
  replyTo?: string;
  /** Handed over within this time, or not at all. */
  expiresMs?: number;
  /** Answer when it has come so far; `message_failed` when it cannot. */
  until?: Receipt;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface ListMessages {
  /** Only those to this session. */
  session?: string;
  /** Only messages to the caller. */
  mine?: boolean;
  /** Only this one and the answers to it. */
  thread?: string;
  state?: readonly MessageState[];
  limit?: number;
  signal?: AbortSignal;
}

/** One question waits no longer than this; then it is asked again. */
const WAIT_MS = 20_000;

const FAR: readonly MessageState[] = ["queued", "injecting", "injected", "turn_started", "replied"];

/** Messages to agents and their delivery state. */
export class Messages {
  readonly #client: HoldfastClient;

  /** `holdfast.messages` is one. */
  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  /** Says something to a session's agent, by the session's name or id. */
  send(session: string, text: string, options: SendOptions = {}): Promise<Message> {
    return sendMessage(this.#client, session, { text, ...options });
  }

  /** Leaves a message for a person: `user:NAME`, `token:NAME`, or `owner`. It waits until they read it. */
  sendToPerson(person: string, text: string, options: Pick<SendOptions, "id" | "replyTo" | "expiresMs" | "signal"> = {}): Promise<Message> {
    const { signal, id = newMessageId(), ...more } = options;
    return surely(() => this.#client.call("sendToPerson", { params: { person }, body: { text, id, ...more } }, signal), signal);
  }

  /** The caller's waiting messages, oldest first. A message that was read counts as delivered. */
  async read(options: { limit?: number; waitMs?: number; signal?: AbortSignal } = {}): Promise<ReadMessage[]> {
    const { signal, ...how } = options;
    // Asked again under the same id, the daemon gives the same again.
    const read = newMessageId();
    return (await surely(() => this.#client.call("readMessages", { body: { read, ...how } }, signal), signal)).messages;
  }

  /** Messages to the caller, as they arrive. */
  async *receive(options: { signal?: AbortSignal } = {}): AsyncGenerator<ReadMessage> {
    for (;;) yield* await this.read({ waitMs: WAIT_MS, ...options });
  }

  /** The newest hundred, oldest first: to one session, to the caller (`mine`), of one thread, or all. */
  async list(options: ListMessages = {}): Promise<Message[]> {
    const { signal, state, ...query } = options;
    const { messages } = await this.#client.call("listMessages", { query: { ...query, state: state && [...state] } }, signal);
    return messages;
  }

  get(id: string, signal?: AbortSignal): Promise<Message> {
    return this.#client.call("getMessage", { params: { id } }, signal);
  }

  /** Waits until it has come so far; one that failed on the way is an error. */
  wait(id: string, until: Receipt, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<Message> {
    return untilReceipt(this.#client, id, { until, ...options });
  }

  /** Takes back one that is queued. */
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
 * Said once, whatever dies: where the answer was lost with its daemon, what the next one knows of it is the answer. If it knows of none, the first error
 * stands: what is only typed has no id, and is not typed again.
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
  // It is not lost: the session's next run is given it.
  if (held) return errorOf("session_ended", why ?? "the session has ended", hint ? { hint } : {});
  if (state === "cancelled") return errorOf("message_failed", "the message was taken back");
  return errorOf(known ? "message_failed" : "message_unknown", why ?? "the message did not reach the agent", hint ? { hint } : {});
}
