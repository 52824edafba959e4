/** An HTTP server that ends in order, whatever it listens on. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";

/** A request that takes longer than this (a stop with its grace period) is cut off by the daemon's end. */
const ANSWER_MS = 2000;

/** A client that does not read its last reply by then does not get it: it must not keep the daemon from ending. */
const FLUSH_MS = 1000;

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface Served {
  server: Server;
  /** What was asked is answered, then every connection ends. A stream is answered when its head is out. */
  end(): Promise<void>;
}

export function serve(app: { fetch: Parameters<typeof getRequestListener>[0] }, upgrade?: Upgrade): Served {
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  // A caller could be writing on an idle connection just when it is closed, and could not know whether that was heard.
  server.keepAliveTimeout = 0;
  const sockets = new Set<Socket>();
  const unanswered = new Set<ServerResponse>();
  server.on("request", (_request, response) => {
    unanswered.add(response);
    response.on("close", () => unanswered.delete(response));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  if (upgrade) server.on("upgrade", upgrade);

  return {
    server,
    async end() {
      const deadline = performance.now() + ANSWER_MS;
      do await delay(10);
      while ([...unanswered].some((response) => !response.headersSent) && performance.now() < deadline);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroySoon();
      setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, FLUSH_MS).unref();
      await closed;
    },
  };
}
