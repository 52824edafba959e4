/** The daemon's door: HTTP on a Unix socket that only its user can open. */
import { chmodSync, existsSync, rmSync, watch } from "node:fs";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { basename, dirname } from "node:path";
import { type Home, log, secureSocketDirectory } from "@holdfast/platform";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";

/** The caller holds the home's lock: a socket file that is there belongs to nobody. */
export async function listen(app: Hono, home: Home): Promise<AsyncDisposable> {
  secureSocketDirectory(home);
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const open = () =>
    new Promise<void>((resolve, reject) => {
      rmSync(home.daemonSocket, { force: true });
      server.once("error", reject).listen(home.daemonSocket, () => {
        server.off("error", reject);
        chmodSync(home.daemonSocket, 0o600);
        resolve();
      });
    });
  await open();

  // A cleaner of /tmp may take the socket away under a daemon that lives; connections that are open survive the new one.
  let reopening = false;
  const watcher = watch(dirname(home.daemonSocket), { persistent: false }, (_event, name) => {
    if (name !== basename(home.daemonSocket) || reopening || existsSync(home.daemonSocket)) return;
    reopening = true;
    log("the daemon's socket vanished; listening anew");
    server.close();
    open()
      .catch((error: unknown) => log(`cannot listen anew: ${String(error)}`))
      .finally(() => {
        reopening = false;
      });
  });

  return {
    async [Symbol.asyncDispose]() {
      reopening = true;
      watcher.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroySoon();
      });
      rmSync(home.daemonSocket, { force: true });
    },
  };
}
