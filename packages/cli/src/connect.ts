/**
 * A client that finds, starts or replaces the daemon as needed. A request is repeated only when it certainly did not reach a
 * daemon that acted on it: the connection was refused, or the daemon answered that it is too old.
 */
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { type Home, socketDirectoryIsSafe } from "@holdfast/platform/home";
import { HoldfastClient } from "@holdfast/sdk/client";
import type { Transport } from "@holdfast/sdk/transport";
import { unixTransport } from "@holdfast/sdk/transport/unix";

/** A daemon that was started by another command at the same moment may still be opening its database. */
const START_PATIENCE_MS = 20_000;

export function connect(home: Home): HoldfastClient {
  return new HoldfastClient(onDemand(home));
}

/** Talks to the daemon that runs, and does not start one. */
export function connectRunning(home: Home): HoldfastClient {
  return new HoldfastClient(unixTransport(home.daemonSocket));
}

export function isNotListening(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ENOENT" || code === "ECONNREFUSED";
}

function onDemand(home: Home): Transport {
  const wire = unixTransport(home.daemonSocket);
  const attempt = async <R extends { status: number }>(send: () => Promise<R>): Promise<R> => {
    const deadline = performance.now() + START_PATIENCE_MS;
    let launched = false;
    for (;;) {
      try {
        if (socketDirectoryIsSafe(home)) {
          const reply = await send();
          if (reply.status !== 426 || !(await replaceOlder(home))) return reply;
          launched = false;
          continue;
        }
      } catch (error) {
        if (!isNotListening(error)) throw error;
      }
      if (!launched) await launch(home);
      else if (performance.now() > deadline) throw unanswered(home);
      else await new Promise((resolve) => setTimeout(resolve, 20));
      launched = true;
    }
  };
  return {
    request: (request) => attempt(() => wire.request(request)),
    stream: (request) => attempt(() => wire.stream(request)),
    close: () => wire.close(),
  };
}

async function launch(home: Home): Promise<void> {
  const { launchDaemon } = await import("@holdfast/platform/daemon-launch");
  await launchDaemon(home, join(import.meta.dirname, "daemon.mjs"));
}

/** Ends a daemon that is older than we are; false when it is we who are older. */
async function replaceOlder(home: Home): Promise<boolean> {
  using client = connectRunning(home);
  try {
    await client.call("status", {});
    return true;
  } catch (error) {
    if ((error as HoldfastError).code !== "daemon_outdated") return false;
  }
  const { endDaemon } = await import("./end-daemon.ts");
  await endDaemon(home, { why: "replaced" });
  return true;
}

function unanswered(home: Home): HoldfastError {
  return new HoldfastError("daemon_unreachable", "the daemon does not answer", {
    hint: `end it with: holdfast down; its log is ${home.log}`,
  });
}
