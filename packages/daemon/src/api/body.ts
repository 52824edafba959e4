/**
 * Reads a request's body, and never holds more of it than its endpoint accepts. A declared length is refused before the first byte is read,
 * chunks as soon as they are too large. The memory of all requests together is bounded too, and that of one principal's requests, from the
 * first byte until the reply: otherwise a thousand bodies within the limit would exceed any bound.
 */
import type { IncomingMessage } from "node:http";
import { DEEPEST_JSON, HoldfastError, MOST_JSON_VALUES, type Principal, TEXT_BODY_LIMIT } from "@holdfast/contract";
import { exceeds } from "@holdfast/platform";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

/** Small requests are not counted, so that large ones cannot block them. */
const SMALL = 64 * 1024;
const MOST_HELD = 256 << 20;
const MOST_HELD_BY_ONE = 96 << 20;

export interface Body {
  /** At most as long as the limit. */
  bytes: Uint8Array;
  /** Called when the request has been answered. */
  release(): void;
}

const NONE: Body = { bytes: new Uint8Array(), release() {} };

export async function readBody(c: Context, { limit, actor }: { limit: number; actor: Principal }): Promise<Body> {
  const declared = c.req.header("content-length");
  const isChunked = c.req.header("transfer-encoding") !== undefined;
  const incoming = (c.env as Partial<HttpBindings> | undefined)?.incoming as IncomingMessage | undefined;
  if (declared !== undefined && Number(declared) > limit) throw tooLarge(limit);
  if (incoming && !isChunked && Number(declared ?? 0) === 0) return NONE;
  const share = new Share(actor);
  try {
    if (incoming && isChunked) return { bytes: await collected(incoming, { limit, share }), release: () => share.release() };
    share.grow(Number(declared ?? 0));
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    if (bytes.length > limit) throw tooLarge(limit);
    return { bytes, release: () => share.release() };
  } catch (error) {
    share.release();
    throw error;
  }
}

/** The JSON in a body; an empty one is an empty object. */
export function jsonOf(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  const excess = exceeds(bytes, { deepest: DEEPEST_JSON, most: MOST_JSON_VALUES });
  if (excess === "depth") throw new HoldfastError("usage", `the request's body nests deeper than ${DEEPEST_JSON} levels`);
  if (excess === "values") throw new HoldfastError("usage", `the request's body has more than ${MOST_JSON_VALUES} values`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new HoldfastError("usage", "the request's body is not JSON in UTF-8", { cause });
  }
}

function collected(incoming: IncomingMessage, { limit, share }: { limit: number; share: Share }): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void) => {
      incoming.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose).pause();
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > limit) throw tooLarge(limit);
        share.grow(chunk.length);
      } catch (error) {
        return settle(() => reject(error));
      }
      chunks.push(chunk);
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onClose = () => settle(() => reject(new HoldfastError("aborted", "the request ended before its body did")));
    incoming.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

/** The memory that one request uses. */
class Share {
  static #held = 0;
  static readonly #heldBy = new Map<Principal, number>();

  readonly #actor: Principal;
  #size = 0;
  #counted = 0;

  constructor(actor: Principal) {
    this.#actor = actor;
  }

  grow(bytes: number): void {
    this.#size += bytes;
    if (this.#size <= SMALL) return;
    const more = this.#size - this.#counted;
    const own = (Share.#heldBy.get(this.#actor) ?? 0) + more;
    if (Share.#held + more > MOST_HELD || own > MOST_HELD_BY_ONE)
      throw new HoldfastError("daemon_busy", "too many large requests at once", { hint: "send them one after the other" });
    this.#count(more);
  }

  release(): void {
    this.#count(-this.#counted);
  }

  #count(bytes: number): void {
    this.#counted += bytes;
    Share.#held += bytes;
    const own = (Share.#heldBy.get(this.#actor) ?? 0) + bytes;
    if (own > 0) Share.#heldBy.set(this.#actor, own);
    else Share.#heldBy.delete(this.#actor);
  }
}

function tooLarge(limit: number): HoldfastError {
  return new HoldfastError("body_too_large", `the request's body has more than ${limit >> 20} MB, which is the limit`, {
    hint: limit === TEXT_BODY_LIMIT ? "put a longer text into a file, and tell the agent to read it" : undefined,
  });
}
