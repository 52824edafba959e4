/**
 * A transport that reconnects to the daemon and may start it. A request that changes something is repeated only if it certainly had no effect: the
 * connection was refused, or the daemon reported that it is too old. A GET is also repeated if the daemon died before it replied.
 */
import type { ErrorBody, HoldfastError } from "@holdfast/contract/errors";
import type { Acting } from "../acting.ts";
import { errorOf } from "../errors.ts";
import { isCode } from "../follow.ts";
import { unixTransport } from "../transport/unix.ts";
import type { Transport, WireRequest } from "../transport.ts";
import type { Place } from "./home.ts";
import { launch, type Starter } from "./launch.ts";

/** Limits retries of a request that crashes the daemon each time. */
const MOST_TRIES = 4;
const PAUSE_MS = 50;

export function onDemand(place: Place, options: Acting & { starter?: Starter }): Transport {
  const wire = unixTransport(place.socket, options);
  let starting: Promise<void> | undefined;
  const start = (starter: Starter): Promise<void> => {
    // `holdfast up` acts with the identity of this connection.
    const { token: HOLDFAST_TOKEN, as: HOLDFAST_AS } = options;
    const env = { ...(starter.env ?? process.env), ...(HOLDFAST_TOKEN ? { HOLDFAST_TOKEN } : {}), ...(HOLDFAST_AS ? { HOLDFAST_AS } : {}) };
    starting ??= launch(place.home, { ...starter, env }).finally(() => {
      starting = undefined;
    });
    return starting;
  };

  const attempt = async <R extends object>(request: WireRequest, send: () => Promise<R>): Promise<R> => {
    for (let tries = 1; ; tries++) {
      try {
        if (place.isThere()) {
          const reply = await send();
          if (tries >= MOST_TRIES || !options.starter || !isOlder(reply)) return reply;
          // These connections belong to the daemon that is being replaced.
          wire.close();
        } else if (!options.starter) throw absent(place);
      } catch (error) {
        const isAsked = request.method === "GET" && isCode(error, "daemon_unreachable") && place.isThere();
        if (!isNotListening(error) && !isAsked) throw error;
        if (tries >= MOST_TRIES || !options.starter) throw isNotListening(error) ? absent(place, error) : error;
      }
      request.signal?.throwIfAborted();
      if (options.starter) await start(options.starter);
      else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };

  return {
    request: (request) => attempt(request, () => wire.request(request)),
    stream: (request) => attempt(request, () => wire.stream(request)),
    upgrade: (request) => attempt(request, () => wire.upgrade?.(request) ?? Promise.reject(absent(place))),
    close: () => wire.close(),
  };
}

/** True if a complete reply says that the daemon is older than this SDK; `holdfast up` replaces it. */
function isOlder(reply: { status?: number; body?: string }): boolean {
  if (reply.status !== 426 || reply.body === undefined) return false;
  const { error } = JSON.parse(reply.body) as { error?: ErrorBody };
  return error?.code === "daemon_outdated";
}

function isNotListening(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "ENOENT" || code === "ECONNREFUSED";
}

function absent({ socket, home }: Place, cause?: unknown): HoldfastError {
  const hint =
    home === undefined ? "ask its owner to start it: holdfast up --share GROUP" : "start it: holdfast up; or connect without start: false";
  return errorOf("daemon_unreachable", `no daemon listens on ${socket}`, { hint, cause });
}
