/**
 * A small HTTP/1.1 client for Unix sockets. Importing node:http costs the CLI twice the CPU time of starting Node; node:net costs a quarter. The
 * client talks only to the daemon, which gives every JSON reply a Content-Length and ends every stream by closing it.
 *
 * A connection carries one request at a time and is kept for the next. Concurrent requests use separate connections, so that a slow one (`stop` with
 * its grace period) delays no other. Each stream has its own connection.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { HoldfastError } from "@holdfast/contract/errors";
import { VERSION } from "@holdfast/contract/version";
import { type Acting, actingIn } from "../acting.ts";
import { bearer } from "../bearer.ts";
import type { Transport, WireChannel, WireReply, WireRequest, WireStream } from "../transport.ts";

/** More connections would use up the daemon's file descriptors. */
const MOST_CONNECTIONS = 128;

/** Connects as the principal of the token; by default of HOLDFAST_TOKEN, so that a program inside a run acts as its session. */
export function unixTransport(path: string, options: WireOptions = actingIn(process.env)): Transport {
  return wireTransport(() => open(path), { ...options, process: ownProcess });
}

/** A connection to a daemon: a Unix socket, or a stream that leads to one. Errors arrive as an early close. */
export type Wire = Duplex & { ref(): unknown; unref(): unknown };

/** `anyVersion`: send no version, so that a daemon of any version accepts the request. */
export interface WireOptions extends Partial<Acting> {
  anyVersion?: boolean | undefined;
}

/** The same transport on connections of another kind; `open` is called for each. */
export function wireTransport(
  open: () => Promise<Wire>,
  options: WireOptions & {
    /** Identifies this process to a daemon on the same machine. */
    process?(): string | undefined;
  },
): Transport {
  const authorization = bearer(options.token);
  const version = options.anyVersion ? undefined : VERSION;
  // A token identifies the caller. Without one the daemon checks whether the process is inside a run.
  const process = authorization === undefined && options.as === undefined ? options.process?.() : undefined;
  const who = [
    ["authorization", authorization],
    ["holdfast-as", authorization === undefined ? options.as : undefined],
    ["holdfast-process", process],
    ["holdfast-version", version],
  ].flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}\r\n`));
  const head = (request: WireRequest, connection: Connection) => headOf(request, { connection, who: who.join("") });
  const idle: Wire[] = [];
  const waiting: (() => void)[] = [];
  let busy = 0;

  const exchange = async (request: WireRequest): Promise<WireReply> => {
    request.signal?.throwIfAborted();
    const reused = takeOpen(idle);
    const socket = reused ?? (await open());
    const abort = () => socket.destroy();
    request.signal?.addEventListener("abort", abort);
    try {
      request.signal?.throwIfAborted();
      socket.write(head(request, "keep-alive") + (request.body ?? ""));
      const reply = await readReply(socket);
      // The daemon refused the request before all of it was sent. The rest would be read as the next request.
      if (socket.writableLength > 0) socket.destroy();
      else {
        socket.unref();
        idle.push(socket);
      }
      return reply;
    } catch (error) {
      socket.destroy();
      request.signal?.throwIfAborted();
      // The daemon may close an idle connection just as the client writes to it. Nothing was read, so a GET can be repeated.
      if (reused && request.method === "GET") return exchange(request);
      throw error;
    } finally {
      request.signal?.removeEventListener("abort", abort);
    }
  };

  return {
    async request(request) {
      if (busy < MOST_CONNECTIONS) busy++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await exchange(request);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else busy--;
      }
    },
    async stream(request): Promise<WireStream> {
      request.signal?.throwIfAborted();
      const socket = await open();
      const abort = () => socket.destroy();
      request.signal?.addEventListener("abort", abort);
      socket.once("close", () => request.signal?.removeEventListener("abort", abort));
      try {
        request.signal?.throwIfAborted();
        socket.write(head(request, "close") + (request.body ?? ""));
        return await readStream(socket, request.signal);
      } catch (error) {
        socket.destroy();
        request.signal?.throwIfAborted();
        throw error;
      }
    },
    async upgrade(request): Promise<WireChannel | WireReply> {
      request.signal?.throwIfAborted();
      const socket = await open();
      const abort = () => socket.destroy();
      request.signal?.addEventListener("abort", abort);
      socket.once("close", () => request.signal?.removeEventListener("abort", abort));
      try {
        socket.write(head(request, "upgrade"));
        return await readUpgrade(socket, request.signal);
      } catch (error) {
        socket.destroy();
        request.signal?.throwIfAborted();
        throw error;
      }
    },
    close() {
      for (const socket of idle) socket.destroy();
    },
  };
}

type Connection = "keep-alive" | "close" | "upgrade";

function takeOpen(idle: Wire[]): Wire | undefined {
  for (let socket = idle.pop(); socket; socket = idle.pop()) if (!socket.destroyed) return socket;
  return undefined;
}

/** HTTP/1.0 requests a body that ends with the connection instead of a chunked one. */
function headOf(request: WireRequest, { connection, who }: { connection: Connection; who: string }): string {
  const protocol = connection === "close" ? "1.0" : "1.1";
  const length =
    request.body === undefined ? "" : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(request.body)}\r\n`;
  const upgrade = connection === "upgrade" ? "upgrade: holdfast\r\n" : "";
  return `${request.method} ${request.path} HTTP/${protocol}\r\nhost: holdfast\r\nconnection: ${connection}\r\n${upgrade}${who}${length}\r\n`;
}

/** Pid and start time in clock ticks. The pid alone may name another process, for example in another pid namespace. */
function ownProcess(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    return `${process.pid}-${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  } catch {
    return undefined;
  }
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.off("error", reject);
      // Later errors arrive as an early close, where each reader reports them.
      socket.on("error", () => {});
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

interface Head {
  status: number;
  length: number | undefined;
  rest: Buffer;
}

function readReply(socket: Wire): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let head: Head | undefined;
    let received: Buffer = Buffer.alloc(0);
    socket.ref();
    const done = (outcome: () => void) => {
      socket.off("data", onData).off("close", onClose);
      outcome();
    };
    /** A reply without a length ends with the connection. The HTTP server sends one for a request that it cannot parse. */
    const onClose = () => {
      if (head && head.length === undefined && !socket.errored) finish(head.status, size);
      else done(() => reject(cutOff(socket)));
    };
    const finish = (status: number, length: number) =>
      done(() => resolve({ status, body: Buffer.concat(chunks).toString("utf8", 0, length) }));
    const onData = (chunk: Buffer) => {
      if (!head) {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        try {
          head = parseHead(received);
        } catch (error) {
          return done(() => reject(error));
        }
        if (!head) return;
        chunks.push(head.rest);
        size = head.rest.length;
      } else {
        chunks.push(chunk);
        size += chunk.length;
      }
      if (head.length !== undefined && size >= head.length) finish(head.status, head.length);
    };
    socket.on("data", onData).on("close", onClose);
  });
}

async function readStream(socket: Wire, signal: AbortSignal | undefined): Promise<WireStream> {
  const source = piecesOf(socket);
  let received = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await source.next();
    if (done) throw cutOff(socket);
    received = Buffer.concat([received, value]);
    const head = parseHead(received);
    if (head) return { status: head.status, chunks: rest(head.rest, { source, signal }) };
  }
}

async function readUpgrade(socket: Wire, signal: AbortSignal | undefined): Promise<WireChannel | WireReply> {
  const { status, chunks } = await readStream(socket, signal);
  if (status === 101) return { chunks, write: (bytes) => void socket.write(bytes), close: () => void socket.destroy() };
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  return { status, body: Buffer.concat(parts).toString() };
}

/** Ends without an error if the reader aborts, because aborting is how a reader stops. */
async function* rest(
  first: Buffer,
  { source, signal }: { source: AsyncGenerator<Buffer>; signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first;
    yield* source;
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    await source.return(undefined);
  }
}

async function* piecesOf(socket: Wire): AsyncGenerator<Buffer> {
  try {
    for await (const piece of socket) yield piece as Buffer;
  } catch {
    throw cutOff(socket);
  }
}

function parseHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const text = bytes.toString("latin1", 0, end);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
  if (status === undefined) throw new HoldfastError("daemon_unreachable", "another program answers on the daemon's socket");
  const length = /^content-length: *(\d+)$/im.exec(text)?.[1];
  return { status: Number(status), length: length === undefined ? undefined : Number(length), rest: bytes.subarray(end + 4) };
}

function cutOff(socket: Wire): HoldfastError {
  return new HoldfastError("daemon_unreachable", "the daemon ended before it answered", { cause: socket.errored ?? undefined });
}
