/** The upgrade to a terminal: afterwards the connection carries frames of the holder protocol instead of HTTP. */
import type { IncomingMessage } from "node:http";
import { ENDPOINTS } from "@holdfast/contract";
import { type Handlers, headersOf, parse, toError, versionConflict } from "./bind.ts";
import type { Door, Gate } from "./gate.ts";
import { checkParams, urlOf } from "./plain-request.ts";
import { refuse } from "./refuse.ts";
import type { Upgrade } from "./serve.ts";

const PATH = /^\/sessions\/([^/]+)\/terminal$/;

/** Other upgrades go to `other`. */
export function terminalUpgrades(handlers: Pick<Handlers, "openTerminal">, how: { gate: Gate; door: Door; other: Upgrade }): Upgrade {
  return (request, socket, head) => {
    if (request.headers.upgrade !== "holdfast") return how.other(request, socket, head);
    socket.on("error", () => socket.destroy());
    open(handlers, request, how).then(
      (serve) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: holdfast\r\n\r\n");
        if (head.length > 0) socket.unshift(head);
        serve(socket);
      },
      (error: unknown) => refuse(socket, toError(error)),
    );
  };
}

async function open(handlers: Pick<Handlers, "openTerminal">, request: IncomingMessage, { gate, door }: { gate: Gate; door: Door }) {
  const headers = headersOf((name) => request.headers[name]?.toString());
  const identity = await gate.admit(headers, door, request.socket);
  const url = urlOf(request.url);
  const ref = decodeURIComponent(PATH.exec(url.pathname)?.[1] ?? "");
  checkParams({ ref });
  const params = gate.permit(identity, "openTerminal", { ref }) as { ref: string };
  const conflict = versionConflict(request.headers["holdfast-version"]?.toString());
  if (conflict) throw conflict;
  const query = parse(ENDPOINTS.openTerminal.query, Object.fromEntries(url.searchParams), "query");
  const { actor, scope, reach } = identity;
  const caller = { actor, scope, reach, version: undefined, signal: new AbortController().signal };
  const from = request.socket.remoteAddress ?? null;
  return handlers.openTerminal({ params, query: query as never, body: undefined }, { ...caller, isValid: () => identity.isValid(), from });
}
