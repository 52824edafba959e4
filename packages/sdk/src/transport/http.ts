/** HTTP with `fetch`, for a daemon that listens on a TCP address. It works in browsers and in Node, and is not loaded for the Unix socket. */
import { HoldfastError } from "@holdfast/contract/errors";
import { VERSION } from "@holdfast/contract/version";
import { bearer } from "../bearer.ts";
import type { Transport, WireRequest } from "../transport.ts";

export function httpTransport(url: string, options: { token?: string | undefined } = {}): Transport {
  const base = baseOf(url);
  const authorization = bearer(options.token);
  const over = new AbortController();

  const send = async (request: WireRequest): Promise<Response> => {
    const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
    try {
      return await fetch(base + request.path, {
        method: request.method,
        headers: {
          "holdfast-version": VERSION,
          ...(authorization === undefined ? {} : { authorization }),
          ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal,
        // A token must not follow a redirect to another address.
        redirect: "error",
        credentials: "omit",
        cache: "no-store",
      });
    } catch (cause) {
      request.signal?.throwIfAborted();
      throw unreachable(base, cause);
    }
  };

  return {
    async request(request) {
      const reply = await send(request);
      try {
        return { status: reply.status, body: await reply.text() };
      } catch (cause) {
        request.signal?.throwIfAborted();
        throw cutOff(cause);
      }
    },
    async stream(request) {
      const reply = await send(request);
      return { status: reply.status, chunks: chunksOf(reply, request.signal) };
    },
    close: () => over.abort(),
  };
}

/** Ends without an error if the reader aborts, because aborting is how a reader stops. */
async function* chunksOf(reply: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = reply.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (cause) {
    if (!signal?.aborted) throw cutOff(cause);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function baseOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed && /^https?:$/.test(parsed.protocol) && parsed.username === "" && parsed.search === "") return parsed.href.replace(/\/$/, "");
  throw new HoldfastError("usage", `${JSON.stringify(url)} is not a daemon's address`, { hint: "for example: http://127.0.0.1:8080" });
}

function unreachable(base: string, cause: unknown): HoldfastError {
  return new HoldfastError("daemon_unreachable", `no daemon answers at ${base}`, {
    hint: "start listening there: holdfast up --listen 127.0.0.1:PORT; holdfast status shows the address",
    cause,
  });
}

function cutOff(cause: unknown): HoldfastError {
  return new HoldfastError("daemon_unreachable", "the daemon ended before it answered", { cause });
}
