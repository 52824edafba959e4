/** The daemon's door: HTTP on a Unix socket that only its user can open. */
import { type Home, keepListening, log, secureSocketDirectory } from "@holdfast/platform";
import { serve, type Upgrade } from "./serve.ts";

/** Commands, hooks and tools of several hundred sessions at once. */
const MOST_CONNECTIONS = 4000;

/** The caller holds the home's lock: a socket file that is there belongs to nobody. */
export async function listen(app: Parameters<typeof serve>[0], home: Home, upgrade?: Upgrade): Promise<AsyncDisposable> {
  const { server, end } = serve(app, { upgrade, most: MOST_CONNECTIONS });
  const door = await keepListening(server, { path: home.daemonSocket, secure: () => secureSocketDirectory(home) });
  server.on("error", (error) => log(`on the socket: ${error.message}`));
  return {
    async [Symbol.asyncDispose]() {
      // Nobody new finds the door. Who stands there is let in.
      door.close();
      await end();
    },
  };
}
