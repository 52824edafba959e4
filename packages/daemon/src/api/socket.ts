/**
 * Journal events over WebSocket, for readers that cannot use SSE with a header (a browser's EventSource cannot). Same events, same
 * cursors. A browser cannot set a header on its upgrade either: it passes the token as a protocol, `token.TOKEN`, which no log
 * keeps; the agreed protocol is `holdfast`.
 *
 * A frame is sent when the previous one has left, so a slow reader costs the daemon one event. A reader that reads nothing for STALLED_MS, or
 * does not answer a ping, is dropped; it reconnects with its cursor.
 */
import type { IncomingMessage } from "node:http";
import { type AnyEvent, ENDPOINTS, HoldfastError } from "@holdfast/contract";
import { type WebSocket, WebSocketServer } from "ws";
import { type Handlers, headersOf, parse, toError, versionConflict } from "./bind.ts";
import { type Door, type Gate, whileValid } from "./gate.ts";
import { urlOf } from "./plain-request.ts";
import { refuse } from "./refuse.ts";
import type { Upgrade } from "./serve.ts";

/** A reader on a train may be without a network for a while; after a longer time it should reconnect. */
const STALLED_MS = 60_000;
/** Besides the event that is being sent. */
const MOST_UNREAD = 16 << 20;
const PROTOCOL = "holdfast";
const TOKEN = "token.";

export function eventSockets(
  handlers: Pick<Handlers, "socketEvents">,
  { gate, door, stalledMs = STALLED_MS }: { gate: Gate; door: Door; stalledMs?: number },
): Upgrade {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    // Clients send nothing of importance.
    maxPayload: 64 * 1024,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });

  const open = async (request: IncomingMessage): Promise<{ events: AsyncIterable<AnyEvent | undefined>; gone: AbortController }> => {
    const headers = headersOf((name) => request.headers[name]?.toString());
    const identity = await gate.admit({ ...headers, authorization: headers.authorization ?? bearerOf(request) }, door, request.socket);
    const url = urlOf(request.url);
    if (url.pathname !== ENDPOINTS.socketEvents.path) throw new HoldfastError("usage", `there is no WebSocket at ${url.pathname}`);
    gate.permit(identity, "socketEvents", {});
    const conflict = versionConflict(request.headers["holdfast-version"]?.toString());
    if (conflict) throw conflict;
    const query = parse(ENDPOINTS.socketEvents.query, Object.fromEntries(url.searchParams), "query");
    const gone = new AbortController();
    const { actor, scope, reach } = identity;
    const caller = { actor, scope, reach, version: undefined, signal: gone.signal };
    const events = handlers.socketEvents({ params: {}, query: query as never, body: undefined }, caller);
    return { events: whileValid(identity, events, gone), gone };
  };

  return (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    open(request).then(
      (opened) => server.handleUpgrade(request, socket, head, (client) => void pump(client, { ...opened, stalledMs })),
      (error: unknown) => refuse(socket, toError(error)),
    );
  };
}

async function pump(
  client: WebSocket,
  { events, gone, stalledMs }: { events: AsyncIterable<AnyEvent | undefined>; gone: AbortController; stalledMs: number },
): Promise<void> {
  let answered = true;
  client
    .on("close", () => gone.abort())
    .on("error", () => client.terminate())
    .on("pong", () => {
      answered = true;
    })
    // Each ping is answered, even if the client does not read the answers.
    .on("ping", () => {
      if (client.bufferedAmount > MOST_UNREAD) client.terminate();
    });
  try {
    for await (const event of events) {
      if (client.readyState !== client.OPEN) return;
      if (event) await sent(client, { text: JSON.stringify(event), stalledMs });
      else if (!answered) return client.terminate();
      else {
        answered = false;
        client.ping();
      }
    }
    client.close(1001, "no more events for this token");
  } catch (error) {
    client.close(1011, toError(error).code);
  } finally {
    gone.abort();
  }
}

function sent(client: WebSocket, { text, stalledMs }: { text: string; stalledMs: number }): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => client.terminate(), stalledMs);
    // An error is followed by `close`, which ends the events.
    client.send(text, () => {
      clearTimeout(stalled);
      resolve();
    });
  });
}

function bearerOf(request: IncomingMessage): string | undefined {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
  const token = offered.find((each) => each.startsWith(TOKEN));
  return token === undefined ? undefined : `Bearer ${token.slice(TOKEN.length)}`;
}
