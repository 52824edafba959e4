/**
 * A session's terminal through the daemon: the current screen, then all output, and keys in the other direction. It ends with the daemon and with the
 * session's run; the reader's loop then ends.
 */

import type { AttachPlan } from "@holdfast/contract/terminal/endpoints";
import type { AttachmentRole } from "@holdfast/contract/terminal/enums";
import { BYTES, decodeMessage, encodeFrame, encodeMessage, FrameReader } from "@holdfast/contract/terminal/frames";
import type { FromHolder, ToHolder } from "@holdfast/contract/terminal/holder";
import type { HoldfastClient } from "./client.ts";
import { errorOf, throwIfAborted, typed } from "./errors.ts";
import type { WireChannel } from "./transport.ts";

/** The version in contract/holder.ts, repeated here to avoid loading that file. */
const PROTOCOL = 3;

export interface AttachOptions {
  /** Only watch: keys do not reach the session. */
  readOnly?: boolean;
  /** Take control, even if another terminal drives the session. */
  take?: boolean;
  /** The size of the terminal; 80 by 24 by default. A session has the size of its driver. */
  columns?: number;
  rows?: number;
  signal?: AbortSignal;
}

/** A session on a terminal of the program. Loop over it for output, and `write` keys. `using` detaches. */
export class Terminal implements AsyncIterable<Uint8Array>, Disposable {
  /** `driver`, or `observer` if another terminal drives the session or `readOnly` was set. */
  readonly role: AttachmentRole;
  readonly #channel: WireChannel;
  readonly #frames: AsyncGenerator<Frame>;
  readonly #signal: AbortSignal | undefined;
  #closed = false;

  /** Programs call `session.attach()` instead. */
  constructor(channel: WireChannel, from: { frames: AsyncGenerator<Frame>; role: AttachmentRole; signal: AbortSignal | undefined }) {
    this.#channel = channel;
    this.#frames = from.frames;
    this.role = from.role;
    this.#signal = from.signal;
  }

  /** The bytes to show: the current screen, then all further output. Can be read once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const frame of this.#frames) {
        if (frame.type === BYTES) yield frame.payload;
        else if (["exit", "detached"].includes(messageOf(frame).t)) return;
      }
      throwIfAborted(this.#signal);
    } catch (error) {
      if (!this.#closed) throw typed(error, this.#signal);
    } finally {
      this.close();
    }
  }

  /** Sends keys as a keyboard would: Enter is `\r`. */
  write(keys: string | Uint8Array): void {
    this.#channel.write(encodeFrame(BYTES, typeof keys === "string" ? new TextEncoder().encode(keys) : keys));
  }

  resize(columns: number, rows: number): void {
    this.#channel.write(encodeMessage({ t: "resize", columns, rows } satisfies ToHolder));
  }

  /** Detaches; the session keeps running. */
  close(): void {
    this.#closed = true;
    this.#channel.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Resolves when the daemon has reported the terminal's role. */
export async function openTerminal(client: HoldfastClient, ref: string, options: AttachOptions = {}): Promise<Terminal> {
  const { readOnly = false, take = false, columns = 80, rows = 24, signal } = options;
  const channel = await client.upgrade({ params: { ref }, query: { readOnly, take } }, signal);
  const frames = framesOf(channel);
  const first = (await frames.next()).value as Frame | undefined;
  const message = first && messageOf(first);
  if (message?.t !== "attached") {
    channel.close();
    throw errorOf("daemon_unreachable", "the daemon did not say what it attached to");
  }
  const { role } = message.plan as AttachPlan;
  channel.write(encodeMessage({ t: "view", v: PROTOCOL, readOnly: role === "observer", columns, rows } satisfies ToHolder));
  return new Terminal(channel, { frames, role, signal });
}

interface Frame {
  type: number;
  payload: Uint8Array;
}

async function* framesOf({ chunks }: WireChannel): AsyncGenerator<Frame> {
  const reader = new FrameReader();
  for await (const chunk of chunks) yield* reader.push(chunk);
}

function messageOf({ payload }: Frame): FromHolder {
  return decodeMessage(payload) as FromHolder;
}
