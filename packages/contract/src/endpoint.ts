import type * as z from "zod/mini";
import type { Scope } from "./access/scopes.ts";
import type { ErrorCode } from "./errors.ts";

/**
 * One endpoint as data. The server binds it, the SDK calls it, openapi.json describes it; none of them repeats it. `params` are the `:names` of the
 * path. `reply` is JSON or a stream: "events" is SSE of journal events, "entries" SSE of transcript entries, "socket" events over a WebSocket,
 * "bytes" raw output, "terminal" an upgrade to frames of the holder protocol.
 */
export interface Endpoint {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: `/${string}`;
  summary: string;
  scope: Scope;
  /**
   * Rights of a session's own token. `own`: only itself and its descendants. `any`: the same as every principal of its scope. `children`: its
   * descendants but not itself, whatever the scope is for others. Without it the endpoint is closed to sessions. The binding checks a `:ref` under
   * /sessions; the handler checks everything else.
   */
  reach?: "own" | "any" | "children";
  query?: z.ZodMiniObject;
  body?: z.ZodMiniObject;
  /** The body contains text or an environment: its limit is 32 MB instead of 1 MB. */
  takesText?: true;
  /** Fields of the body whose strings may contain NUL; no other string of a request may. */
  verbatim?: readonly string[];
  /** Fields of the body that a session's own token may not set. */
  closedToSessions?: readonly string[];
  /**
   * Also answered where no daemon can run, by a reader on a copy of the database (`daemon`), or by the daemon for one command that runs when
   * config.toml is invalid (`configuration`). Both refuse everything else.
   */
  answeredWithout?: readonly ("daemon" | "configuration")[];
  reply: z.ZodMiniType | "events" | "entries" | "socket" | "bytes" | "terminal";
  errors: readonly ErrorCode[];
}

/** Errors of every endpoint that names a session. */
export const SESSION_ERRORS = ["session_not_found", "session_ambiguous"] as const;

type PathParams<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParams<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

type Input<E extends Endpoint> = ([PathParams<E["path"]>] extends [never] ? unknown : { params: Record<PathParams<E["path"]>, string> }) &
  (E["query"] extends z.ZodMiniObject ? { query?: Query<E["query"]> } : unknown) &
  (E["body"] extends z.ZodMiniObject ? { body: z.input<E["body"]> } : unknown);

/** A caller may pass the wire format (`"a,b"`, `"true"`) or the value (`["a", "b"]`, `true`). */
type Query<S extends z.ZodMiniObject> = { [K in keyof z.input<S>]: z.input<S>[K] | (K extends keyof z.output<S> ? z.output<S>[K] : never) };

/** The arguments of a call. */
export type CallOf<E extends Endpoint> = Input<E>;
/** The reply of a JSON endpoint. */
export type ReplyOf<E extends Endpoint> = E["reply"] extends z.ZodMiniType ? z.infer<E["reply"]> : never;
/** A validated request, as a handler receives it. */
export interface RequestOf<E extends Endpoint> {
  params: Record<PathParams<E["path"]>, string>;
  query: E["query"] extends z.ZodMiniObject ? z.infer<E["query"]> : Record<never, never>;
  body: E["body"] extends z.ZodMiniObject ? z.infer<E["body"]> : undefined;
}
