/** The daemon's main entry point: HTTP on a Unix socket that only its user can open. */
import { type Home, keepListening, log, secureSocketDirectory } from "@holdfast/platform";
import { serve, type Upgrade } from "./serve.ts";

/** Enough for commands, hooks and tools of several hundred sessions at once. */
const MOST_CONNECTIONS = 4000;

/** The caller holds the home's lock, so an existing socket file is stale. */
export async function listen(app: Parameters<typeof serve>[0], home: Home, upgrade?: Upgrade): Promise<AsyncDisposable> {
  const { server, end } = serve(app, { upgrade, most: MOST_CONNECTIONS });
  const door = await keepListening(server, { path: home.daemonSocket, secure: () => secureSocketDirectory(home) });
  server.on("error", (error) => log(`on the socket: ${error.message}`));
  return {
    async [Symbol.asyncDispose]() {
      // New clients no longer find the socket. Clients that have connected are served.
      door.close();
      await end();
    },
  };
}
