import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS, Selection } from "./endpoints.ts";
import { ERRORS } from "./errors.ts";
import { EVENTS } from "./events.ts";
import { ROUTES } from "./routes.ts";
import { SpawnRequest } from "./spawn-request.ts";

const endpoints = Object.entries(ENDPOINTS) as [keyof typeof ENDPOINTS, Endpoint][];

test("every endpoint has a route and every route an endpoint, and they agree", () => {
  expect(Object.keys(ENDPOINTS)).toEqual(Object.keys(ROUTES));
  for (const [name, { method, path }] of endpoints) expect({ method, path }).toEqual(ROUTES[name]);
});

test("no two endpoints answer the same request", () => {
  const requests = endpoints.map(([, { method, path }]) => `${method} ${path.replace(/:\w+/g, ":x")}`);
  expect(requests.filter((each, i) => requests.indexOf(each) !== i)).toEqual([]);
});

test("an endpoint names errors that exist, each once; one with a body is no GET", () => {
  for (const [name, { errors, method, body }] of endpoints) {
    for (const code of errors) expect(ERRORS, name).toHaveProperty(code);
    expect(new Set(errors).size, name).toBe(errors.length);
    if (body) expect(method, name).not.toBe("GET");
  }
});

test("a list that names nothing is never the same as no list", () => {
  expect(Selection.parse({})).toEqual({ all: false });
  expect(Selection.parse({ names: "" }).names).toEqual([""]);
  expect(Selection.parse({ agent: "" }).agent).toEqual([""]);
  expect(Selection.parse({ names: "a,,b" }).names).toEqual(["a", "", "b"]);
  expect(Selection.safeParse({ status: "" }).success).toBe(false);
  expect(Selection.safeParse({ status: "done,nonsense" }).success).toBe(false);
  expect(Selection.parse({ status: "done,lost", all: "true" })).toMatchObject({ status: ["done", "lost"], all: true });
});

test("a spawn has defaults that an old caller did not send, and limits", () => {
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

test("every type of event has its line in docs/EVENTS.md, and every line a type", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/EVENTS.md"), "utf8");
  const lines = [...text.matchAll(/^\| `([a-z]+\.[a-z_]+)` \|/gm)].map(([, type]) => type);
  expect(lines.sort()).toEqual(Object.keys(EVENTS).sort());
});

test("every error has its line in docs/ERRORS.md", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/ERRORS.md"), "utf8");
  for (const code of Object.keys(ERRORS)) expect(text).toContain(`\`${code}\``);
});
