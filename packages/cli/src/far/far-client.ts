/**
 * A client of a remote daemon, for commands that follow. Connections come and go below it. A GET request is repeated on the next connection; a
 * broken stream is reopened by the command at its position. A request that changes something is repeated only if it was not delivered.
 */
import { HoldfastError } from "@holdfast/contract/errors";
import { HoldfastClient } from "@holdfast/sdk/client";
import type { WireRequest } from "@holdfast/sdk/transport";
import { wireTransport } from "@holdfast/sdk/transport/unix";
import type { Machine } from "./machine.ts";
import { pauseAfter } from "./pause.ts";
import { connectionBroke } from "./ssh-failure.ts";
import { openWire } from "./wire.ts";

/** Without a person to give up, a script must not hang forever. */
const UNWATCHED_MS = 10 * 60_000;

export function farClient(machine: Machine): HoldfastClient {
  let served = false;
  let isLost = false;
  let isOver = false;
  const wires = wireTransport(async () => openWire(machine, { again: served }), { token: undefined });
  /** Ctrl+C also ends ssh, whose end must not be reported as a lost connection. */
  const onInterrupt = () => {
    isOver = true;
    process.off("SIGINT", onInterrupt);
    if (process.listenerCount("SIGINT") === 0) process.kill(process.pid, "SIGINT");
  };
  process.on("SIGINT", onInterrupt);
  const tellLost = () => {
    if (!isLost) process.stderr.write(`holdfast: lost the connection to ${machine.name}; reconnecting, Ctrl+C gives up\n`);
    isLost = true;
  };
  /** The reader of a broken stream reopens it. */
  const watched = async function* (chunks: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      const isBroken = error instanceof HoldfastError && (error.cause as { code?: unknown } | undefined)?.code === "machine_unreachable";
      if (isBroken && !isOver && !signal?.aborted) tellLost();
      throw error;
    }
  };
  const attempt = async <R>(request: WireRequest, send: () => Promise<R>): Promise<R> => {
    let since: number | undefined;
    for (let mishaps = 0; ; mishaps++) {
      try {
        const reply = await send();
        if (isLost) process.stderr.write(`holdfast: reconnected to ${machine.name}\n`);
        served = true;
        isLost = false;
        return reply;
      } catch (error) {
        if (isOver || request.signal?.aborted || !served || !canMend(error, request)) throw inFarWords(error, machine);
        since ??= performance.now();
        if (!process.stderr.isTTY && performance.now() - since > UNWATCHED_MS) throw error;
        tellLost();
        await pauseAfter(mishaps, request.signal);
      }
    }
  };
  return new HoldfastClient({
    request: (request) => attempt(request, () => wires.request(request)),
    async stream(request) {
      const { status, chunks } = await attempt(request, () => wires.stream(request));
      return { status, chunks: watched(chunks, request.signal) };
    },
    close() {
      process.off("SIGINT", onInterrupt);
      wires.close();
    },
  });
}

function canMend(error: unknown, { method }: WireRequest): boolean {
  if (!(error instanceof HoldfastError)) return false;
  return error.code === "machine_unreachable" || (method === "GET" && error.code === "daemon_unreachable");
}

/** The connection broke during a request that changes something; the sender must check the result. */
function inFarWords(error: unknown, machine: Machine): unknown {
  if (!(error instanceof HoldfastError) || error.code !== "daemon_unreachable") return error;
  return connectionBroke(machine);
}
