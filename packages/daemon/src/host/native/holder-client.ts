/** The daemon's connection to one holder: requests with replies, and a notice when the holder is gone. */
import { connect, type Socket } from "node:net";
import {
  decodeMessage,
  encodeMessage,
  FrameReader,
  type FromConversation,
  type FromHolder,
  HOLDER_PROTOCOL,
  HoldfastError,
  MESSAGE,
  type ToConversation,
  type ToHolder,
  type Viewer,
} from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import { programEnded } from "../host.ts";

/** The first protocol version whose holders report their viewers. */
const TELLS_VIEWERS = 3;

type Reply = Extract<FromHolder, { t: "reply" }> & Pick<Extract<FromConversation, { t: "reply" }>, "state" | "code">;
type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
type Request = WithoutId<Extract<ToHolder, { id: number }>>;
export type ConversationRequest = WithoutId<Extract<ToConversation, { id: number }>>;

/** Error codes for the refusals of a conversation's keeper. */
const REFUSED = { busy: "turn_runs", ended: "session_ended", not_offered: "not_offered", failed: "host_failed" } as const;

export interface HolderListener {
  onEnd(): void;
  /** Called when the viewers of the terminal have changed. */
  onViewers(): void;
}

export class HolderClient implements Disposable {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>();
  #id = 0;
  #protocol = HOLDER_PROTOCOL;
  readonly #onViewers: () => void;
  /** The current viewers; undefined until the holder has reported them. */
  #viewers: Viewer[] | undefined;

  private constructor(socket: Socket, { onEnd, onViewers }: HolderListener) {
    this.#socket = socket;
    this.#onViewers = onViewers;
    const reader = new FrameReader();
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const { type, payload } of reader.push(chunk)) if (type === MESSAGE) this.#hear(decodeMessage(payload) as FromHolder);
      } catch (error) {
        // A program in the run may have replaced its holder's socket. Its nonsense must not end the daemon.
        log(`a holder's message cannot be read: ${describe(error)}`);
        socket.destroy();
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      const error = new HoldfastError("host_failed", "the holder has ended");
      for (const waiting of this.#waiting.values()) waiting.reject(error);
      this.#waiting.clear();
      onEnd();
    });
    socket.write(encodeMessage({ t: "control", v: HOLDER_PROTOCOL } satisfies ToHolder));
  }

  static open(path: string, listener: HolderListener): Promise<HolderClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once("error", (cause) => reject(new HoldfastError("host_failed", `cannot reach the holder: ${cause.message}`, { cause })));
      socket.once("connect", () => {
        socket.removeAllListeners("error");
        resolve(new HolderClient(socket, listener));
      });
    });
  }

  request(request: Request | ConversationRequest): Promise<Reply> {
    if (this.#socket.destroyed) return Promise.reject(new HoldfastError("host_failed", "the holder has ended"));
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(encodeMessage({ ...request, id }));
    });
  }

  /** Asks once; later changes arrive as messages. A holder that cannot report its viewers counts as having none. */
  async viewers(): Promise<readonly Viewer[]> {
    if (this.#viewers) return this.#viewers;
    const reply = await this.request({ t: "viewers" }).catch((error: unknown) => {
      if (this.#protocol < TELLS_VIEWERS) return undefined;
      throw error;
    });
    // A message that arrived meanwhile is newer than the reply.
    this.#viewers ??= reply?.viewers ?? [];
    return this.#viewers;
  }

  /** The holder's protocol version, once it has answered. */
  get protocol(): number {
    return this.#protocol;
  }

  tell(message: Extract<ToHolder, { t: "resize" }>): void {
    this.#socket.write(encodeMessage(message));
  }

  [Symbol.dispose](): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #hear(message: FromHolder): void {
    if (message.t === "welcome") this.#protocol = message.v;
    if (message.t === "viewers") {
      this.#viewers = message.viewers;
      this.#onViewers();
    }
    if (message.t !== "reply") return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    const { code, error } = message as Reply;
    if (error === undefined) waiting?.resolve(message);
    else if (code) waiting?.reject(new HoldfastError(REFUSED[code], error));
    else waiting?.reject(message.ended ? programEnded() : message.full ? unread(message.waiting ?? 0) : this.#refusal(error));
  }

  /** A running holder may be older than this daemon and lack newer requests. */
  #refusal(why: string): HoldfastError {
    if (this.#protocol >= HOLDER_PROTOCOL) return new HoldfastError("host_failed", `the holder refused: ${why}`);
    return new HoldfastError("host_failed", "this run's keeper was started by an older Holdfast, which does not support this", {
      hint: "the session's next run supports it; this run keeps running",
    });
  }
}

function unread(bytes: number): HoldfastError {
  return new HoldfastError("input_full", `nothing was typed: the program has not read ${bytes} bytes of earlier input`, {
    hint: "check its screen: holdfast screen NAME; stop it if it hangs: holdfast stop NAME",
  });
}
