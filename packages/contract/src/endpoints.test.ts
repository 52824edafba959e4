import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { ERRORS } from "./errors.ts";
import { EVENTS } from "./events.ts";
import { openapi } from "./openapi.ts";
import { ROUTES } from "./routes.ts";
import { Selection } from "./session/endpoints.ts";
import { CLOSED_TO_SESSIONS, SpawnRequest } from "./session/spawn-request.ts";

const endpoints = Object.entries(ENDPOINTS) as [keyof typeof ENDPOINTS, Endpoint][];

test("every endpoint has a route and every route an endpoint, and they agree", () => {
  expect(Object.keys(ENDPOINTS)).toEqual(Object.keys(ROUTES));
  for (const [name, { method, path }] of endpoints) expect({ method, path }).toEqual(ROUTES[name]);
});

test("without a daemon only requests that read are answered", () => {
  const answered = endpoints.filter(([, { answeredWithout = [] }]) => answeredWithout.includes("daemon"));
  expect(answered.length).toBeGreaterThan(0);
  expect(answered.filter(([, { method }]) => method !== "GET").map(([name]) => name)).toEqual([]);
});

test("no two endpoints answer the same request", () => {
  const requests = endpoints.map(([, { method, path }]) => `${method} ${path.replace(/:\w+/g, ":x")}`);
  expect(requests.filter((each, i) => requests.indexOf(each) !== i)).toEqual([]);
});

test("an endpoint names existing errors once each, and a GET has no body", () => {
  for (const [name, { errors, method, body }] of endpoints) {
    for (const code of errors) expect(ERRORS, name).toHaveProperty(code);
    expect(new Set(errors).size, name).toBe(errors.length);
    if (body) expect(method, name).not.toBe("GET");
  }
});

test("fields forbidden to a session are forbidden in every kind of start (mend 9)", () => {
  const starts = endpoints.filter(([, { reach, body }]) => reach !== undefined && body && "plan" in body.shape);
  expect(starts.map(([name]) => name)).toEqual(["spawn", "startTournament"]);
  for (const [name, { closedToSessions }] of starts) expect(closedToSessions, name).toBe(CLOSED_TO_SESSIONS);
});

interface Schema {
  type?: string | string[];
  maxLength?: number;
  maxItems?: number;
  enum?: unknown;
  const?: unknown;
  pattern?: string;
  format?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** Each string and list in a body, with its position. */
function partsOf(schema: Schema | undefined, at = ""): [string, Schema][] {
  if (!schema) return [];
  if (schema.$ref) return partsOf(DOCUMENT.components.schemas[schema.$ref.split("/").at(-1) ?? ""], at);
  const below = Object.entries(schema.properties ?? {}).flatMap(([key, each]) => partsOf(each, at === "" ? key : `${at}.${key}`));
  const values = typeof schema.additionalProperties === "object" ? partsOf(schema.additionalProperties, `${at}.*`) : [];
  const ways = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => partsOf(each, at));
  return [[at, schema], ...below, ...values, ...ways, ...partsOf(schema.items, `${at}[]`)];
}

const DOCUMENT = openapi() as {
  paths: Record<string, Record<string, { requestBody?: { content: { "application/json": { schema: Schema } } } }>>;
  components: { schemas: Record<string, Schema> };
};

const bodies = endpoints.map(([name, endpoint]) => {
  const operation = DOCUMENT.paths[endpoint.path.replace(/:(\w+)/g, "{$1}")]?.[endpoint.method.toLowerCase()];
  return { name, endpoint, parts: partsOf(operation?.requestBody?.content["application/json"].schema) };
});

test("every string and list of a body has its own limit or a general one (mend 9)", () => {
  /** Fields with their own rule: the bytes of a prompt, an argument or a command. An environment may be as large as the body. */
  const ruled = /^(prompt|env\.\*|(command|args)(\[\])?)$/;
  for (const { name, parts } of bodies) {
    const unlimited = parts.flatMap(([at, { type, maxLength, maxItems, enum: words, const: word, pattern, format }]) => {
      const types = [type].flat();
      const isString = types.includes("string") && maxLength === undefined && !words && !word && !pattern && !format;
      return isString || (types.includes("array") && maxItems === undefined) ? [at] : [];
    });
    expect(
      unlimited.filter((at) => !ruled.test(at)),
      name,
    ).toEqual([]);
  }
});

test("an endpoint accepts 32 MB only if its body can be that large (mend 4)", () => {
  for (const { name, endpoint, parts } of bodies) {
    const isLarge = parts.some(([at, { maxLength = 0 }]) => at === "env" || at === "input" || maxLength > 100_000);
    expect({ name, takesText: endpoint.takesText === true }).toEqual({ name, takesText: isLarge });
  }
});

test("an empty list differs from no list", () => {
  expect(Selection.parse({})).toEqual({ all: false });
  expect(Selection.parse({ names: "" }).names).toEqual([""]);
  expect(Selection.parse({ agent: "" }).agent).toEqual([""]);
  expect(Selection.parse({ names: "a,,b" }).names).toEqual(["a", "", "b"]);
  expect(Selection.safeParse({ status: "" }).success).toBe(false);
  expect(Selection.safeParse({ status: "done,nonsense" }).success).toBe(false);
  expect(Selection.parse({ status: "done,lost", all: "true" })).toMatchObject({ status: ["done", "lost"], all: true });
});

test("a spawn request has limits, and defaults for fields that old clients do not send", () => {
  const least = { agent: "demo", cwd: "/", env: {} };
  expect(SpawnRequest.parse(least)).toMatchObject({ umask: 0o022, args: [] });
  for (const wrong of [
    {},
    { ...least, env: { A: 1 } },
    { ...least, umask: -1 },
    { ...least, umask: 0o1000 },
    { ...least, command: [] },
    { ...least, name: 5 },
  ]) {
    expect(SpawnRequest.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
});

test("every event type has a row in docs/EVENTS.md, and every row a type", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/EVENTS.md"), "utf8");
  const lines = [...text.matchAll(/^\| `([a-z]+\.[a-z_]+)` \|/gm)].map(([, type]) => type);
  expect(lines.sort()).toEqual(Object.keys(EVENTS).sort());
});

test("every error has a row in docs/ERRORS.md", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/ERRORS.md"), "utf8");
  for (const code of Object.keys(ERRORS)) expect(text).toContain(`\`${code}\``);
});
