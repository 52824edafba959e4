/**
 * MCP over HTTP. Each request is served by a server of its own, which acts as whoever asked; nothing is kept between them, so that a daemon that
 * died and came back goes on with clients that never knew. The id that a client gets when it begins only tells its calls from those of
 * others, so that it can cancel them.
 */
import { randomUUID } from "node:crypto";
import { HoldfastClient } from "@holdfast/sdk/client";
import type { Transport, WireRequest } from "@holdfast/sdk/transport";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { createServer } from "./server.ts";

const SESSION = "mcp-session-id";

export interface McpRequest {
  request: Request;
  /** Its body, read and parsed; undefined: it has none. */
  message: unknown;
  /** Who asks: a cancellation reaches only calls of the same. */
  actor: string;
  /** Asks the daemon as they would. */
  ask(request: Request): Promise<Response>;
}

/** By actor, client and id: the calls that run. */
const running = new Map<string, () => void>();

export async function answerMcp({ request, message, actor, ask }: McpRequest): Promise<Response> {
  if (request.method === "DELETE") return new Response(null, { status: 200 });
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST, DELETE" } });
  const messages = messagesIn(message);
  const key = (id: unknown) => JSON.stringify([actor, request.headers.get(SESSION), id]);
  for (const { method, params } of messages) if (method === "notifications/cancelled") running.get(key(params?.requestId))?.();

  const client = new HoldfastClient(asking(ask));
  const server = createServer(client);
  const transport = new WebStandardStreamableHTTPServerTransport({});
  await server.connect(transport);
  const keys = messages.flatMap(({ id, method }) => (id === undefined || method === undefined ? [] : [key(id)]));
  const end = () => {
    for (const each of keys) if (running.get(each) === end) running.delete(each);
    void server.close();
  };
  for (const each of keys) running.set(each, end);
  request.signal.addEventListener("abort", end, { once: true });
  const { method, headers } = request;
  const reply = await transport.handleRequest(new Request(request.url, { method, headers }), { parsedBody: message });
  if (keys.length === 0) end();
  const isBeginning = messages.some((message) => message.method === "initialize");
  return withEnd(isBeginning ? withSession(reply) : reply, end);
}

interface Rpc {
  id?: unknown;
  method?: string;
  params?: { requestId?: unknown } | undefined;
}

/** What is no message the transport refuses. */
function messagesIn(value: unknown): Rpc[] {
  return (Array.isArray(value) ? value : [value]).filter((each): each is Rpc => typeof each === "object" && each !== null);
}

function withSession(reply: Response): Response {
  const headers = new Headers(reply.headers);
  headers.set(SESSION, randomUUID());
  return new Response(reply.body, { status: reply.status, headers });
}

/** When the last of it was read, or nobody reads it any more, the call is over. */
function withEnd(reply: Response, end: () => void): Response {
  if (!reply.body) return reply;
  const source = reply.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.read();
      if (!done) return controller.enqueue(value);
      end();
      controller.close();
    },
    async cancel(reason) {
      end();
      await source.cancel(reason);
    },
  });
  return new Response(body, { status: reply.status, headers: reply.headers });
}

/** A daemon asked from within. */
function asking(ask: McpRequest["ask"]): Transport {
  const send = ({ method, path, body, signal }: WireRequest) =>
    ask(
      new Request(`http://holdfast${path}`, {
        method,
        ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
        ...(signal ? { signal } : {}),
      }),
    );
  return {
    async request(request) {
      const reply = await send(request);
      const body = await reply.text();
      request.signal?.throwIfAborted();
      return { status: reply.status, body };
    },
    async stream(request) {
      const reply = await send(request);
      return { status: reply.status, chunks: until(request.signal, reply.body) };
    },
    close() {},
  };
}

/** Ends quietly when its reader has enough. */
async function* until(signal: AbortSignal | undefined, body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal?.aborted) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}
