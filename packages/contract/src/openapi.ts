import * as z from "zod/mini";
import { PlacedEntry } from "./conversation/endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { ERRORS, type ErrorCode } from "./errors.ts";
import { AnyEvent } from "./events.ts";
import * as contract from "./index.ts";
import { BODY_LIMIT, bodyLimitOf } from "./limits.ts";
import { VERSION } from "./version.ts";

type Json = Record<string, unknown>;
type Direction = "input" | "output";

/** The contract as an OpenAPI 3.1 document: openapi.json, which is committed and checked for drift. */
export function openapi(endpoints: Record<string, Endpoint> = ENDPOINTS): Json {
  const schemas = new Schemas();
  const responses: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(name, endpoint, { schemas, responses }) };
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
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      responses: sorted({ ...responses, Default: failure([...EVERYWHERE]) }),
      schemas: sorted({ ...schemas.used, Error: errorSchema() }),
    },
  };
}

/** The parts that operations share. */
interface Shared {
  schemas: Schemas;
  responses: Record<string, Json>;
}

function operation(name: string, endpoint: Endpoint, { schemas, responses }: Shared): Json {
  const parameters = [...pathParameters(endpoint), ...queryParameters(endpoint, schemas)];
  return {
    operationId: name,
    summary: endpoint.summary,
    "x-scope": endpoint.scope,
    ...(endpoint.reach ? { "x-session-reach": endpoint.reach } : {}),
    ...(bodyLimitOf(endpoint) === BODY_LIMIT ? {} : { "x-body-limit": bodyLimitOf(endpoint) }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body ? { requestBody: { required: true, content: json(schemas.of(endpoint.body, "input")) } } : {}),
    responses: { 200: reply(endpoint, schemas), ...failures(endpoint, responses), default: DEFAULT },
  };
}

function pathParameters({ path }: Endpoint): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));
}

function queryParameters({ query }: Endpoint, schemas: Schemas): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemas.whole(query, "input") as { properties?: Record<string, Json>; required?: string[] };
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

const DEFAULT = { $ref: "#/components/responses/Default" };

/** The endpoint's own errors by status. A status that it does not list can come from any endpoint. */
function failures({ errors, method }: Endpoint, responses: Record<string, Json>): Record<string, Json> {
  const writing = method === "GET" ? [] : (["disk_full", "home_read_only"] as const);
  const own = new Set<ErrorCode>([...errors, ...writing]);
  const statuses = [...new Set([...own].map((code) => ERRORS[code].http))].sort((a, b) => a - b);
  const named = (status: number) => {
    const codes = [...new Set([...own, ...EVERYWHERE])].filter((code) => ERRORS[code].http === status).sort();
    const name = codes.join(".");
    responses[name] ??= failure(codes);
    return [status, { $ref: `#/components/responses/${name}` }];
  };
  return Object.fromEntries(statuses.map(named));
}

function failure(codes: ErrorCode[]): Json {
  const schema = { allOf: [{ $ref: "#/components/schemas/Error" }, { properties: { error: { properties: { code: { enum: codes } } } } }] };
  return { description: codes.map((code) => `\`${code}\`: ${ERRORS[code].what}`).join(" "), content: json(schema) };
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}

/** Every exported schema is a component under its own name; the others are written out where they are used. */
class Schemas {
  readonly used: Record<string, Json> = {};
  readonly #names: Record<Direction, z.core.$ZodRegistry<{ id: string }>> = { input: z.registry(), output: z.registry() };

  constructor() {
    const named = Object.entries({ ...contract, Event: AnyEvent }).filter(([name, value]) => /^[A-Z]/.test(name) && isSchema(value));
    const schemas = new Map(named.map(([name, value]) => [value as z.ZodMiniType, name]));
    for (const [schema, name] of schemas) {
      // Defaults make a field optional in a request and required in a reply.
      const differs = JSON.stringify(this.#convert(schema, "input")) !== JSON.stringify(this.#convert(schema, "output"));
      this.#names.output.add(schema, { id: name });
      this.#names.input.add(schema, { id: differs ? `${name}Input` : name });
    }
  }

  of(schema: z.ZodMiniType, direction: Direction): Json {
    // Inside an object zod converts named schemas to references, including the requested one.
    const { $defs = {}, properties } = this.#convert(z.object({ it: schema }), direction, this.#names[direction]) as {
      $defs?: Record<string, Json>;
      properties: { it: Json };
    };
    for (const [name, { id: _, ...definition }] of Object.entries($defs)) this.used[name] = definition;
    return properties.it;
  }

  /** Written out, even if the schema has a name. */
  whole(schema: z.ZodMiniType, direction: Direction): Json {
    const { $ref, ...written } = this.of(schema, direction) as { $ref?: string };
    return $ref === undefined ? written : (this.used[$ref.split("/").at(-1) ?? ""] ?? {});
  }

  #convert(schema: z.ZodMiniType, io: Direction, metadata: z.core.$ZodRegistry<{ id: string }> = z.registry()): Json {
    const converted = z.toJSONSchema(schema, {
      io,
      metadata,
      unrepresentable: "any",
      // The pattern of a date-time is very long and adds nothing to its format.
      override: ({ jsonSchema }) => {
        if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
        // The limits of JavaScript's integers say nothing about the value.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        // Clients ignore fields that they do not know: a newer daemon may add some.
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      },
    });
    return JSON.parse(JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
  }
}

function isSchema(value: unknown): value is z.ZodMiniType {
  return typeof value === "object" && value !== null && "_zod" in value;
}

function sorted<T>(named: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
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
