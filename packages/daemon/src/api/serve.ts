/** An HTTP server with an orderly end, for any kind of socket. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "@holdfast/contract";
import { getRequestListener } from "@hono/node-server";
import { Connections } from "./connections.ts";
import { failure } from "./failure.ts";
import { refuse } from "./refuse.ts";

/** A longer request (such as a stop with its grace period) is cut off when the daemon ends. */
const ANSWER_MS = 2000;

/** A client that has not read its last reply by then does not get it, because it must not delay the daemon's end. */
const FLUSH_MS = 1000;

/** The head of a request arrives in one piece, except from an attacker or over a very bad network. */
const HEAD_MS = 20_000;
const LOOK_MS = 5000;

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface Served {
  server: Server;
  /** Answers pending requests, then closes every connection. A stream counts as answered once its head has been sent. */
  end(): Promise<void>;
}

/** `most`: the maximum number of connections. */
export function serve(
  app: { fetch: Parameters<typeof getRequestListener>[0] },
  { upgrade, most }: { upgrade?: Upgrade | undefined; most: number },
): Served {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: () => failure(unreadable()) });
  const server = createServer({ headersTimeout: HEAD_MS, connectionsCheckingInterval: LOOK_MS }, answer);
  // A caller could be writing to an idle connection just as it is closed, and could not know whether the request arrived.
  server.keepAliveTimeout = 0;
  const connections = new Connections(most);
  const unanswered = new Set<ServerResponse>();
  server.on("request", (_request, response) => {
    unanswered.add(response);
    response.on("close", () => unanswered.delete(response));
  });
  server.on("connection", (socket) => connections.add(socket));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else refuse(socket, unreadable(error));
  });
  if (upgrade) server.on("upgrade", upgrade);

  return {
    server,
    async end() {
      const deadline = performance.now() + ANSWER_MS;
      do await delay(10);
      while ([...unanswered].some((response) => !response.headersSent) && performance.now() < deadline);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of connections.open) socket.destroySoon();
      setTimeout(() => {
        for (const socket of connections.open) socket.destroy();
      }, FLUSH_MS).unref();
      await closed;
    },
  };
}

const WHY: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "the request's head is too long",
  ERR_HTTP_REQUEST_TIMEOUT: "the request did not arrive in time",
};

function unreadable(error?: NodeJS.ErrnoException): HoldfastError {
  return new HoldfastError("usage", WHY[error?.code ?? ""] ?? "the request is not valid HTTP");
}
