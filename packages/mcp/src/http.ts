/**
 * MCP over HTTP. Each request gets its own server, which acts as the caller. Nothing is kept between requests, so clients do not notice a restarted
 * daemon. The session id of a client only distinguishes its calls from those of other clients, so that it can cancel them.
 */
import { randomUUID } from "node:crypto";
import { HoldfastClient } from "@holdfast/sdk/client";
import type { Transport, WireRequest } from "@holdfast/sdk/transport";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { createServer } from "./server.ts";

const SESSION = "mcp-session-id";

export interface McpRequest {
  request: Request;
  /** The parsed body; undefined if there is none. */
  message: unknown;
  /** The caller's principal; a cancellation reaches only calls of the same one. */
  actor: string;
  /** Sends a request to the daemon as the caller. */
  ask(request: Request): Promise<Response>;
}

/** Running calls, by actor, client and id. */
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

/** The transport refuses everything that is not a message. */
function messagesIn(value: unknown): Rpc[] {
  return (Array.isArray(value) ? value : [value]).filter((each): each is Rpc => typeof each === "object" && each !== null);
}

function withSession(reply: Response): Response {
  const headers = new Headers(reply.headers);
  headers.set(SESSION, randomUUID());
  return new Response(reply.body, { status: reply.status, headers });
}

/** The call is over when its reply has been read, or when nobody reads it any more. */
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

/** A transport to the daemon within the same process. */
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

/** Ends without an error when the reader stops. */
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
