/**
 * Binds the contract's endpoints to handlers: validation of requests, replies as JSON, SSE or bytes, and one catch for all errors.
 * A missing handler does not compile. Only this folder knows the HTTP library.
 */

import type { Duplex } from "node:stream";
import {
  type AnyEvent,
  bodyLimitOf,
  compareVersions,
  ENDPOINTS,
  type Endpoint,
  type EndpointName,
  formatCursor,
  HoldfastError,
  type PlacedEntry,
  type Principal,
  type ReplyOf,
  type RequestOf,
  type Scope,
  type SessionId,
  VERSION,
} from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { Identity } from "../access/identity.ts";
import { GitError } from "../workspace/git/git.ts";
import { jsonOf, readBody } from "./body.ts";
import { failure, json } from "./failure.ts";
import { type Door, type Gate, type Headers, whileValid } from "./gate.ts";
import { answerMcp, MCP_PATH } from "./mcp.ts";
import { checkEncoding, checkNul, checkParams, checkType } from "./plain-request.ts";

export interface Caller {
  actor: Principal;
  scope: Scope;
  /** The calling session, which may see only itself and its descendants. */
  reach: SessionId | undefined;
  /** The version of the client's Holdfast, if it sends one. */
  version: string | undefined;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/** The caller of a connection that stays open. */
export interface WireCaller extends Caller {
  isValid(): boolean;
  /** The remote address, over TCP. */
  from: string | null;
}

type Reply<E extends Endpoint> = E["reply"] extends "terminal"
  ? Promise<(wire: Duplex) => void>
  : E["reply"] extends "events" | "socket"
    ? AsyncIterable<AnyEvent | undefined>
    : E["reply"] extends "entries"
      ? AsyncIterable<PlacedEntry | undefined>
      : E["reply"] extends "bytes"
        ? AsyncIterable<Uint8Array>
        : ReplyOf<E> | Promise<ReplyOf<E>>;

export type Handlers = {
  [N in EndpointName]: (
    request: RequestOf<(typeof ENDPOINTS)[N]>,
    caller: N extends "openTerminal" ? WireCaller : Caller,
  ) => Reply<(typeof ENDPOINTS)[N]>;
};

type AnyHandler = (request: { params: Record<string, string>; query: unknown; body: unknown }, caller: Caller) => unknown;

type App = Hono<{ Variables: { identity: Identity } }>;

export function bind(handlers: Handlers, { gate, door }: { gate: Gate; door: Door }): App {
  const app: App = new Hono();
  app.use(async (c, next) => {
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    c.set(
      "identity",
      await gate.admit(
        headersOf((name) => c.req.header(name)),
        door,
        incoming?.socket,
      ),
    );
    checkEncoding(c.req.raw.url);
    const error = versionConflict(c.req.header("holdfast-version"));
    // A client of any version must be able to end this daemon.
    return error && c.req.path !== ENDPOINTS.shutdown.path ? failure(error) : next();
  });
  for (const [name, endpoint] of Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]) {
    const handler = handlers[name] as unknown as AnyHandler;
    app.on(endpoint.method, [endpoint.path], (c) => {
      const identity = c.get("identity");
      const named = c.req.param() as Record<string, string>;
      checkParams(named);
      const params = gate.permit(identity, name, named);
      return answer(c, endpoint, { handler, identity, params, check: (body) => gate.permitFields(identity, name, body) });
    });
  }
  app.all(MCP_PATH, (c) => answerMcp(c, (request) => app.fetch(request)));
  app.notFound((c) => failure(new HoldfastError("usage", `there is no endpoint ${c.req.method} ${c.req.path}`)));
  app.onError((error) => failure(toError(error)));
  return app;
}

/** The headers that decide whether a request is admitted. */
export function headersOf(header: (name: string) => string | undefined): Headers {
  return {
    host: header("host"),
    origin: header("origin"),
    authorization: header("authorization"),
    as: header("holdfast-as"),
    process: header("holdfast-process"),
  };
}

async function answer(
  c: Context,
  endpoint: Endpoint,
  {
    handler,
    identity,
    params,
    check,
  }: { handler: AnyHandler; identity: Identity; params: Record<string, string>; check(body: unknown): void },
): Promise<Response> {
  if (endpoint.reply === "socket")
    throw new HoldfastError("usage", `${endpoint.path} accepts WebSocket connections only`, {
      hint: "use WebSocket, or read /events/stream",
    });
  if (endpoint.reply === "terminal")
    throw new HoldfastError("usage", `${endpoint.path} needs an upgrade to holdfast`, { hint: "use holdfast attach" });
  const sent = await readBody(c, { limit: bodyLimitOf(endpoint), actor: identity.actor });
  try {
    const query = endpoint.query ? parse(endpoint.query, c.req.query(), "query") : {};
    const body = endpoint.body
      ? bodyOf({ ...endpoint, body: endpoint.body }, { bytes: sent.bytes, type: c.req.header("content-type") })
      : undefined;
    check(body);
    return await reply(c, endpoint, { handler, identity, request: { params, query, body } });
  } finally {
    sent.release();
  }
}

function bodyOf(
  { body, verbatim }: Pick<Endpoint, "verbatim"> & { body: NonNullable<Endpoint["body"]> },
  { bytes, type }: { bytes: Uint8Array; type: string | undefined },
): unknown {
  if (bytes.length > 0) checkType(type);
  const value = jsonOf(bytes);
  checkNul(value, verbatim);
  return parse(body, value, "body");
}

async function reply(
  c: Context,
  endpoint: Endpoint,
  { handler, identity, request }: { handler: AnyHandler; identity: Identity; request: Parameters<AnyHandler>[0] },
): Promise<Response> {
  const { actor, scope, reach } = identity;
  const end = new AbortController();
  c.req.raw.signal.addEventListener("abort", () => end.abort());
  const result = handler(request, { actor, scope, reach, version: c.req.header("holdfast-version"), signal: end.signal });
  if (endpoint.reply === "events")
    return stream(sse(whileValid(identity, result as AsyncIterable<AnyEvent | undefined>, end), asEvent), "text/event-stream");
  if (endpoint.reply === "entries")
    return stream(sse(whileValid(identity, result as AsyncIterable<PlacedEntry | undefined>, end), asEntry), "text/event-stream");
  if (endpoint.reply === "bytes")
    return stream(brokenOff(c, whileValid(identity, result as AsyncIterable<Uint8Array>, end)), "application/octet-stream");
  return json(200, await result);
}

/** Asks a newer client to replace this daemon, and an older client to update itself. A client that sends no version is served. */
export function versionConflict(theirs: string | undefined): HoldfastError | undefined {
  const order = theirs === undefined ? 0 : compareVersions(theirs, VERSION);
  if (order === 0) return undefined;
  return order > 0
    ? new HoldfastError("daemon_outdated", `the daemon's version ${VERSION} is older than ${theirs}`, {
        hint: "run holdfast down, then try again",
      })
    : new HoldfastError("client_outdated", `this is holdfast ${theirs}, but the running daemon is the newer version ${VERSION}`, {
        hint: `use holdfast ${VERSION}, or stop the daemon with it: holdfast down (sessions keep running)`,
      });
}

/** The value parsed by the contract's schema; throws `usage` with the first problem. */
export function parse(schema: NonNullable<Endpoint["body"]>, value: unknown, where: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new HoldfastError(
    "usage",
    sentence(issue?.message) ?? `the request's ${where} is wrong: ${issue?.path.join(".") || where}: ${issue?.message}`,
  );
}

/** The contract's own messages are sentences for people, and begin with a lower-case letter. */
function sentence(message: string | undefined): string | undefined {
  return message !== undefined && /^[a-z]/.test(message) ? message : undefined;
}

/** A comment line for a pause shows a client that the stream is alive. */
async function* sse<T>(items: AsyncIterable<T | undefined>, format: (item: T) => string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const item of items) yield encoder.encode(item === undefined ? ": alive\n\n" : format(item));
}

/** `id` is the cursor for a reconnect. */
function asEvent(event: AnyEvent): string {
  return `id: ${formatCursor(event)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function asEntry(placed: PlacedEntry): string {
  return `id: ${placed.cursor}\nevent: ${placed.entry.type}\ndata: ${JSON.stringify(placed)}\n\n`;
}

/** The head has been sent: an error can only be shown by breaking the connection off, which no reader mistakes for the end. */
async function* brokenOff(c: Context<{ Bindings: Partial<HttpBindings> }>, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    const { outgoing } = c.env ?? {};
    if (!outgoing) throw error;
    log(`${c.req.method} ${c.req.path} was interrupted: ${HoldfastError.from(error).message}`);
    outgoing.destroy();
  }
}

function stream(chunks: AsyncIterable<Uint8Array>, type: string): Response {
  return new Response(ReadableStream.from(chunks), {
    headers: { "content-type": type, "cache-control": "no-store", "holdfast-version": VERSION },
  });
}

export function toError(thrown: unknown): HoldfastError {
  const error = thrown instanceof GitError ? gitFailed(thrown) : HoldfastError.from(thrown);
  if (error.code === "internal") log(`a request failed: ${describe(thrown)}`);
  return error;
}

function gitFailed(error: GitError): HoldfastError {
  const hint = hintFor(error.stderr);
  return new HoldfastError("git_failed", error.message, { ...(hint === undefined ? {} : { hint }), cause: error });
}

function hintFor(stderr: string): string | undefined {
  if (/tell me who you are|empty ident|no email was given|auto-detect/i.test(stderr))
    return 'set your git identity: git config --global user.name "…"; git config --global user.email …';
  if (/\.lock': File exists/.test(stderr))
    return "another git command is running there: try again when it is done; if none is running, delete the lock file it left";
  return undefined;
}
