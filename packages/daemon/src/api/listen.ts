/** The daemon's door: HTTP on a Unix socket that only its user can open. */
import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Home, keepListening, secureSocketDirectory } from "@holdfast/platform";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";

/** A request that takes longer than this (a stop with its grace period) is cut off by the daemon's end. */
const ANSWER_MS = 2000;

/** A client that does not read its last reply by then does not get it: it must not keep the daemon from ending. */
const FLUSH_MS = 1000;

/** The caller holds the home's lock: a socket file that is there belongs to nobody. */
export async function listen(app: Hono, home: Home): Promise<AsyncDisposable> {
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
  const door = await keepListening(server, { path: home.daemonSocket, secure: () => secureSocketDirectory(home) });

  return {
    async [Symbol.asyncDispose]() {
      // Nobody new finds the door. Who stands there is let in, and what was asked is answered; a stream is answered when its head is out.
      door.close();
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
