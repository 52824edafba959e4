import * as z from "zod/mini";
import { PlacedEntry } from "./conversation-endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { DaemonStatus, ENDPOINTS, SessionList, StopReply } from "./endpoints.ts";
import { ERRORS, type ErrorCode } from "./errors.ts";
import { AnyEvent } from "./events.ts";
import { bodyLimitOf } from "./limits.ts";
import { Exit, Session } from "./session.ts";
import { SpawnRequest } from "./spawn-request.ts";
import { AttachPlan } from "./terminal-endpoints.ts";
import { VERSION } from "./version.ts";

type Json = Record<string, unknown>;

/** Schemas with a name of their own; the others are written out where they are used. */
const NAMED = { Session, Exit, Event: AnyEvent, DaemonStatus, SessionList, SpawnRequest, AttachPlan, StopReply };

/** The contract as an OpenAPI 3.1 document: openapi.json, which is committed and checked for drift. */
export function openapi(endpoints: Record<string, Endpoint> = ENDPOINTS): Json {
  const schemas = new Schemas();
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(name, endpoint, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version: VERSION,
      description: "Served on the daemon's Unix socket and, on request, on a TCP address, which always requires a token.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://holdfast" }],
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } }, schemas: schemas.components() },
  };
}

function operation(name: string, endpoint: Endpoint, schemas: Schemas): Json {
  const parameters = [...pathParameters(endpoint), ...queryParameters(endpoint, schemas)];
  return {
    operationId: name,
    summary: endpoint.summary,
    "x-scope": endpoint.scope,
    "x-session-reach": endpoint.reach ?? "none",
    "x-body-limit": bodyLimitOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body ? { requestBody: { required: true, content: json(schemas.of(endpoint.body, "input")) } } : {}),
    responses: { 200: reply(endpoint, schemas), ...failures(endpoint) },
  };
}

function pathParameters({ path }: Endpoint): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));
}

function queryParameters({ query }: Endpoint, schemas: Schemas): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(query, "input") as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: required.includes(name), schema }));
}

function reply({ reply }: Endpoint, schemas: Schemas): Json {
  if (reply === "socket") return { description: "Never sent: a WebSocket upgrade is answered with 101." };
  if (reply === "terminal") return { description: "Never sent: an upgrade to `holdfast` is answered with 101." };
  if (reply === "bytes") return { description: "Raw bytes.", content: { "application/octet-stream": {} } };
  if (reply === "events") return serverSent("an event", schemas.of(AnyEvent, "output"));
  if (reply === "entries") return serverSent("an entry", schemas.of(PlacedEntry, "output"));
  return { description: "Done.", content: json(schemas.of(reply, "output")) };
}

function serverSent(what: string, contentSchema: Json): Json {
  return {
    description: `Server-sent events: \`data\` is ${what} as JSON, \`id\` its cursor.`,
    content: { "text/event-stream": { schema: { type: "string", contentMediaType: "application/json", contentSchema } } },
  };
}

/** Errors of every endpoint, in addition to its own. */
const EVERYWHERE = [
  "usage",
  "unauthenticated",
  "forbidden",
  "body_too_large",
  "client_outdated",
  "daemon_outdated",
  "internal",
  "daemon_busy",
] as const satisfies ErrorCode[];

function failures({ errors, method }: Endpoint): Record<string, Json> {
  const byStatus = new Map<number, Set<ErrorCode>>();
  const writing = method === "GET" ? [] : (["disk_full", "home_read_only"] as const);
  for (const code of [...errors, ...writing, ...EVERYWHERE]) {
    const status = ERRORS[code].http;
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [status, failure([...codes].sort())]));
}

function failure(codes: ErrorCode[]): Json {
  const schema = { allOf: [{ $ref: "#/components/schemas/Error" }, { properties: { error: { properties: { code: { enum: codes } } } } }] };
  return { description: codes.map((code) => `\`${code}\`: ${ERRORS[code].what}`).join(" "), content: json(schema) };
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}

class Schemas {
  readonly #names = z.registry<{ id: string }>();
  readonly #used: Record<string, unknown> = {};

  constructor() {
    for (const [id, schema] of Object.entries(NAMED)) this.#names.add(schema, { id });
  }

  of(schema: z.ZodMiniType, io: "input" | "output"): Json {
    // Inside an object zod converts named schemas to references, including the requested one.
    const { $defs = {}, properties } = this.#convert(z.object({ it: schema }), io) as { $defs?: Json; properties: { it: Json } };
    for (const [name, definition] of Object.entries($defs)) this.#used[name] = withoutId(definition as Json);
    return properties.it;
  }

  components(): Json {
    const known = { ...this.#used, Error: errorSchema() };
    return Object.fromEntries(Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #convert(schema: z.ZodMiniType, io: "input" | "output"): Json {
    const converted = z.toJSONSchema(schema, {
      io,
      metadata: this.#names,
      unrepresentable: "any",
      // The pattern of a date-time is very long and adds nothing to its format.
      override: ({ jsonSchema }) => {
        if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
      },
    });
    return JSON.parse(JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
  }
}

function withoutId({ id: _, ...schema }: Json): Json {
  return schema;
}

/** The body of every failed request: `{"error": {...}}`. */
function errorSchema(): Json {
  const text = { type: "string" };
  const error = {
    type: "object",
    properties: {
      code: { type: "string", enum: Object.keys(ERRORS) },
      message: text,
      hint: text,
      candidates: { type: "array", items: text },
      details: { type: "object", additionalProperties: true },
    },
    required: ["code", "message"],
    additionalProperties: false,
  };
  return { type: "object", properties: { error }, required: ["error"], additionalProperties: false };
}
