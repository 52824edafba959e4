/** Typed client of one daemon. Methods, paths and types come from the contract; no schema is loaded. */
import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import { type ErrorBody, HoldfastError } from "@holdfast/contract/errors";
import type { AnyEvent } from "@holdfast/contract/events";
import { type EndpointName, ROUTES } from "@holdfast/contract/routes";
import type { Endpoints, Streams } from "./endpoints.ts";
import { typed } from "./errors.ts";
import { parseEventStream } from "./event-stream.ts";
import type { Transport, WireChannel, WireReply, WireRequest } from "./transport.ts";

interface Call {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Typed client of one daemon, with every endpoint by name. */
export class HoldfastClient implements Disposable {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Calls an endpoint that answers with JSON. */
  async call<N extends keyof Endpoints>(name: N, call: Endpoints[N]["call"], signal?: AbortSignal): Promise<Endpoints[N]["reply"]> {
    try {
      const reply = await this.#transport.request(wire(name, call as Call, signal));
      if (reply.status >= 400) throw failureOf(reply);
      return JSON.parse(reply.body) as Endpoints[N]["reply"];
    } catch (error) {
      throw typed(error, signal);
    }
  }

  /** Raw bytes of a run's recording. */
  async bytes(call: Streams["readOutput"], signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#open("readOutput", call as Call, signal);
  }

  /** Journal events as they arrive, until the stream ends or the signal aborts. To continue later, pass the last event's cursor. */
  async *events(call: Streams["followEvents"], signal?: AbortSignal): AsyncGenerator<AnyEvent> {
    yield* parseEventStream<AnyEvent>(await this.#open("followEvents", call as Call, signal));
  }

  /** Transcript entries as they are written, until the conversation ends or the signal aborts. To continue later, pass the last entry's cursor. */
  async *entries(call: Streams["followTranscript"], signal?: AbortSignal): AsyncGenerator<PlacedEntry> {
    yield* parseEventStream<PlacedEntry>(await this.#open("followTranscript", call as Call, signal));
  }

  /** Opens a terminal connection, which carries frames of the holder protocol in both directions. */
  async upgrade(call: Streams["openTerminal"], signal?: AbortSignal): Promise<WireChannel> {
    if (!this.#transport.upgrade)
      throw new HoldfastError("not_offered", "this connection cannot attach a terminal", {
        hint: "connect over the daemon's Unix socket; sendInput, getOutput and screen work over every connection",
      });
    try {
      const opened = await this.#transport.upgrade(wire("openTerminal", call as Call, signal));
      if ("status" in opened) throw failureOf(opened);
      return opened;
    } catch (error) {
      throw typed(error, signal);
    }
  }

  [Symbol.dispose](): void {
    this.#transport.close();
  }

  async #open(name: EndpointName, call: Call, signal: AbortSignal | undefined): Promise<AsyncIterable<Uint8Array>> {
    try {
      const { status, chunks } = await this.#transport.stream(wire(name, call, signal));
      if (status < 400) return chunks;
      let body = "";
      const decoder = new TextDecoder();
      for await (const chunk of chunks) body += decoder.decode(chunk, { stream: true });
      throw failureOf({ status, body });
    } catch (error) {
      throw typed(error, signal);
    }
  }
}

/** The daemon's error. For a request that its HTTP server cannot parse, the server's own error. */
function failureOf({ status, body }: WireReply): HoldfastError {
  try {
    return HoldfastError.fromBody((JSON.parse(body) as { error?: ErrorBody }).error ?? {});
  } catch (cause) {
    if (status === 431) return new HoldfastError("usage", "the request is too long", { hint: "pass fewer or shorter names", cause });
    return new HoldfastError("internal", `the daemon refused the request with HTTP status ${status}`, { cause });
  }
}

function wire(name: EndpointName, call: Call, signal: AbortSignal | undefined): WireRequest {
  const { method, path } = ROUTES[name];
  const filled = path.replace(/:(\w+)/g, (_, param: string) => segment(param, call.params?.[param] ?? ""));
  return { method, path: filled + queryOf(call.query), body: call.body === undefined ? undefined : JSON.stringify(call.body), signal };
}

/** Rejects an empty segment, `.` and `..`. They cannot be sent in a path, however they are encoded, and nothing has such a name. */
function segment(param: string, ref: string): string {
  if (!/^\.{0,2}$/.test(ref)) return encodeURIComponent(ref);
  if (param !== "ref") throw new HoldfastError("usage", `${JSON.stringify(ref)} is not a valid ${param}`);
  throw new HoldfastError("session_not_found", `no session has the name, id or id prefix ${JSON.stringify(ref)}`, {
    hint: "list sessions: holdfast ls --all",
  });
}

/** Joins lists with commas, as the contract requires, and omits undefined values. */
function queryOf(query: Record<string, unknown> | undefined): string {
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return "";
  return `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(Array.isArray(value) ? value.join(",") : String(value))}`).join("&")}`;
}
