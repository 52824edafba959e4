/** Clients of a daemon that runs already: the one of the home, or the one at HOLDFAST_URL. */
import { HoldfastError } from "@holdfast/contract/errors";
import { checkSharedSocket, type Home } from "@holdfast/platform/home";
import { actingIn } from "@holdfast/sdk/acting";
import { HoldfastClient } from "@holdfast/sdk/client";
import { refuseInsideRun } from "@holdfast/sdk/node/inside-a-run";
import type { Transport } from "@holdfast/sdk/transport";
import { unixTransport } from "@holdfast/sdk/transport/unix";

/** Connects to the running daemon; never starts one. */
export function connectRunning(home: Home): HoldfastClient {
  const url = remoteUrl();
  if (url !== undefined) return new HoldfastClient(remote(url));
  const acting = actingIn(process.env);
  refuseInsideRun(home.path, acting);
  return new HoldfastClient(unixTransport(home.daemonSocket, acting));
}

/** Address of the daemon in HOLDFAST_URL. */
export function remoteUrl(): string | undefined {
  return process.env.HOLDFAST_URL || undefined;
}

/** The socket named by HOLDFAST_URL, shared by another user of this machine. */
export function sharedSocket(url: string): string | undefined {
  if (!url.startsWith("unix:")) return undefined;
  const path = url.slice("unix:".length);
  try {
    checkSharedSocket(path);
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    throw new HoldfastError("daemon_unreachable", `cannot reach ${path}: ${(cause as Error).message}`, {
      hint: "its owner runs: holdfast up --share GROUP; you must be in that group (check with id; log in again after you were added)",
      cause,
    });
  }
  return path;
}

/** Loads the transport on the first request: `fetch` costs as much CPU as starting Node. */
export function remote(url: string): Transport {
  let loading: Promise<Transport> | undefined;
  const load = () => {
    const socket = sharedSocket(url);
    if (socket !== undefined) loading ??= Promise.resolve(unixTransport(socket));
    loading ??= import("@holdfast/sdk/transport/http").then(({ httpTransport }) => httpTransport(url, actingIn(process.env)));
    return loading;
  };
  return {
    request: async (request) => (await load()).request(request),
    stream: async (request) => (await load()).stream(request),
    close: () => void loading?.then((transport) => transport.close()).catch(() => {}),
  };
}

export function isNotListening(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ENOENT" || code === "ECONNREFUSED";
}

/** True if the daemon refused the request; no other way may be tried. */
export function isRefused(error: unknown): boolean {
  return error instanceof HoldfastError && (error.code === "forbidden" || error.code === "unauthenticated");
}
