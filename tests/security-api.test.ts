/**
 * Every endpoint against a hostile client: bodies over the limit, JSON that is too deep, text that is not text. Generated from the contract, so that
 * a new endpoint is included automatically.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { NetConnectOpts, Socket } from "node:net";
import path from "node:path";
import { BODY_LIMIT, bodyLimitOf, type DaemonStatus, DEEPEST_JSON, ENDPOINTS, type Endpoint, type NewToken } from "@holdfast/contract";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { fromJSONSchema } from "zod";
import { clientAs } from "./as-session.ts";
import { eventually, ROOT, TestHome } from "./home.ts";
import { mostResidentBytes } from "./proc.ts";
import { ask, headOf, opened, type RawReply, type RawRequest } from "./raw-http.ts";

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; required?: string[] };

interface Operation {
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { $ref?: string }>;
}

const DOCUMENT = JSON.parse(readFileSync(path.join(ROOT, "openapi.json"), "utf8")) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { content: { "application/json": { schema: { allOf: [unknown, Schema] } } } }>;
  };
};

const ALL = Object.entries(ENDPOINTS) as [string, Endpoint][];
const MB = 1 << 20;
const JSON_TYPE = { "content-type": "application/json" };

function operationOf({ method, path }: Endpoint): Operation {
  const found = DOCUMENT.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  if (!found) throw new Error(`openapi.json has no ${method} ${path}`);
  return found;
}

/** Fails unless the reply is a refusal with a status and a code that openapi.json documents for this operation. */
function expectRefusal(endpoint: Endpoint, reply: RawReply, what: string): void {
  const said = `${endpoint.method} ${endpoint.path}, ${what}: ${reply.status} ${reply.body.slice(0, 300)}`;
  expect(reply.status, said).toBeGreaterThanOrEqual(400);
  expect(reply.status, said).toBeLessThan(500);
  const { responses } = operationOf(endpoint);
  const name = (responses[reply.status] ?? responses.default)?.$ref?.split("/").at(-1) ?? "";
  const documented = DOCUMENT.components.responses[name];
  expect(documented, `${said} is not documented`).toBeDefined();
  const [, narrowed] = documented?.content["application/json"].schema.allOf ?? [];
  const schema = fromJSONSchema({ allOf: [DOCUMENT.components.schemas.Error, narrowed] } as Parameters<typeof fromJSONSchema>[0]);
  expect(schema.safeParse(JSON.parse(reply.body)).error?.message, said).toBeUndefined();
}

/** The path with names that do not exist. */
function filled(endpoint: Endpoint, value = "x"): string {
  const needed = (operationOf(endpoint).parameters ?? []).filter(({ in: place, required }) => place === "query" && required);
  const query = needed.map(({ name }) => `${name}=x`).join("&");
  return `${endpoint.path.replace(/:\w+/g, value)}${query && `?${query}`}`;
}

function dereferenced(schema: Schema): Schema {
  const { $ref } = schema as { $ref?: string };
  return $ref === undefined ? schema : dereferenced(DOCUMENT.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
}

/** A value of this schema; its strings are `text`. */
function sample(schema: Schema, text: string): unknown {
  const it = dereferenced(schema);
  const [first] = (it.anyOf ?? it.oneOf ?? []) as Schema[];
  if (first) return sample(first, text);
  if (it.enum) return (it.enum as unknown[])[0];
  if (it.const !== undefined) return it.const;
  const type = Array.isArray(it.type) ? it.type[0] : it.type;
  if (type === "object") return Object.fromEntries((it.required ?? []).map((key) => [key, sample(it.properties?.[key] ?? {}, text)]));
  if (type === "array") return [sample((it.items ?? {}) as Schema, text)];
  if (type === "integer" || type === "number") return it.minimum ?? 1;
  if (type === "boolean") return false;
  return it.pattern === undefined ? text : "aaaaaaaaaa";
}

/** One body for each text field, with `text` in that field. */
function bodiesWith({ body }: Endpoint, operation: Operation, text: string): [string, Record<string, unknown>][] {
  const schema = operation.requestBody?.content["application/json"].schema;
  if (body === undefined || schema === undefined) return [];
  const whole = sample(schema, "x") as Record<string, unknown>;
  return Object.entries(dereferenced(schema).properties ?? {}).map(([key, each]) => [key, { ...whole, [key]: sample(each, text) }]);
}

class Daemon implements AsyncDisposable {
  readonly home = new TestHome();
  pid = 0;
  unix: NetConnectOpts = { path: "" };
  tcp: NetConnectOpts = { port: 0 };
  token = "";

  static async start(): Promise<Daemon> {
    const daemon = new Daemon();
    const { listen, pid, socket } = await daemon.home.json<DaemonStatus>(["up", "--listen", "127.0.0.1:0"]);
    daemon.pid = pid;
    daemon.unix = { path: socket };
    daemon.tcp = { port: Number(new URL(listen?.url ?? "").port), host: "127.0.0.1" };
    daemon.token = (await daemon.home.json<NewToken>(["token", "create", "--scope", "owner", "--name", "attacker"])).token;
    return daemon;
  }

  get authorization(): { authorization: string } {
    return { authorization: `Bearer ${this.token}` };
  }

  ask(endpoint: Endpoint, request: Partial<RawRequest>): Promise<RawReply> {
    const { headers, ...rest } = request;
    return ask(this.unix, { method: endpoint.method, path: filled(endpoint), ...rest, headers: { ...this.authorization, ...headers } });
  }

  /** The same daemon still runs and answers others. */
  async isWell(): Promise<void> {
    expect((await this.home.json<DaemonStatus>(["status"])).pid).toBe(this.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.home[Symbol.asyncDispose]();
  }
}

test("every endpoint refuses a body over its limit before it buffers it (mend 4)", async () => {
  await using daemon = await Daemon.start();
  const piece = Buffer.alloc(256 * 1024, "x");
  function* endless(limit: number): Generator<Buffer> {
    for (let sent = 0; sent < 4 * limit; sent += piece.length) yield piece;
  }
  for (const [name, endpoint] of ALL) {
    if (endpoint.reply === "terminal" || endpoint.reply === "socket") continue;
    const limit = bodyLimitOf(endpoint);
    const declared = await daemon.ask(endpoint, { headers: { ...JSON_TYPE, "content-length": String(300 * MB) } });
    expect({ name, status: declared.status }).toEqual({ name, status: 413 });
    expectRefusal(endpoint, declared, "a declared length over the limit");
    const chunked = await daemon.ask(endpoint, { headers: JSON_TYPE, chunks: endless(limit) });
    expect({ name, status: chunked.status }).toEqual({ name, status: 413 });
    expectRefusal(endpoint, chunked, "chunks without end");
  }
  const mcp = { method: "POST", path: "/mcp", headers: { ...JSON_TYPE, ...daemon.authorization, "content-length": String(300 * MB) } };
  expect((await ask(daemon.unix, mcp)).status).toBe(413);
  await daemon.isWell();
  // Twenty endpoints take 32 MB each: one body is released before the next is read.
  expect(mostResidentBytes(daemon.pid)).toBeLessThan(700 * MB);
});

test("a text of the maximum length still works, and many at once do not exhaust the daemon's memory (mend 4)", async () => {
  await using daemon = await Daemon.start();
  const send = (size: number) =>
    ask(daemon.tcp, {
      method: "POST",
      path: "/sessions/nobody/messages",
      headers: { ...JSON_TYPE, ...daemon.authorization },
      body: JSON.stringify({ text: "x".repeat(size) }),
    });
  expect((await send(15_000_000)).status).toBe(404);
  const replies = await Promise.all(Array.from({ length: 24 }, () => send(15_000_000).catch(() => undefined)));
  expect(replies.every((reply) => reply === undefined || [404, 503].includes(reply.status))).toBe(true);
  await daemon.isWell();
  expect(mostResidentBytes(daemon.pid)).toBeLessThan(1000 * MB);
});

test("a body of millions of empty values is refused before it is parsed (mend 4)", async () => {
  await using daemon = await Daemon.start();
  const send = (body: string) =>
    ask(daemon.unix, { method: "POST", path: "/sessions", headers: { ...JSON_TYPE, ...daemon.authorization }, body });
  for (const unit of ["[],", "{},", '"",', "0,"]) {
    const reply = await send(`{"agent":"x","args":[${unit.repeat((30 * MB) / unit.length).slice(0, -1)}]}`);
    expectRefusal(ENDPOINTS.spawn, reply, `${unit} ten million times`);
  }
  await daemon.isWell();
  expect(mostResidentBytes(daemon.pid)).toBeLessThan(700 * MB);
});

test("every endpoint with a body refuses one that is not JSON, too deep, or of another type (mend 9)", async () => {
  await using daemon = await Daemon.start();
  const bodies: [string, RawRequest["body"], Record<string, string>][] = [
    ["too deep", `${"[".repeat(DEEPEST_JSON + 1)}${"]".repeat(DEEPEST_JSON + 1)}`, JSON_TYPE],
    ["far too deep", "[".repeat(BODY_LIMIT - 1), JSON_TYPE],
    ["deep objects", `${'{"a":'.repeat(DEEPEST_JSON + 1)}1${"}".repeat(DEEPEST_JSON + 1)}`, JSON_TYPE],
    ["no JSON", "{no", JSON_TYPE],
    ["half of it", '{"a":"', JSON_TYPE],
    ["no object", "[1]", JSON_TYPE],
    ["null", "null", JSON_TYPE],
    ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), JSON_TYPE],
    ["a form", "a=b", { "content-type": "application/x-www-form-urlencoded" }],
    ["plain text", "{}", { "content-type": "text/plain" }],
  ];
  for (const [, endpoint] of ALL) {
    if (!endpoint.body) continue;
    for (const [what, body, headers] of bodies) {
      const reply = await daemon.ask(endpoint, { headers, ...(body === undefined ? {} : { body }) });
      expectRefusal(endpoint, reply, what);
    }
  }
  for (const [what, body, headers] of bodies) {
    const accept = { accept: "application/json, text/event-stream", ...daemon.authorization };
    const reply = await ask(daemon.unix, { method: "POST", path: "/mcp", headers: { ...headers, ...accept }, body: body ?? "" });
    expect({ what, isRefused: reply.status >= 400 && reply.status < 500 }).toEqual({ what, isRefused: true });
  }
  await daemon.isWell();
});

test("NUL, broken percent-encoding and over-long names are refused with that reason, anywhere in a request (mend 9)", async () => {
  await using daemon = await Daemon.start();
  const long = "y".repeat(5000);
  for (const [, endpoint] of ALL) {
    if (endpoint.reply === "terminal" || endpoint.reply === "socket") continue;
    const operation = operationOf(endpoint);
    const body = endpoint.body && {
      headers: JSON_TYPE,
      body: JSON.stringify(sample(operation.requestBody?.content["application/json"].schema ?? {}, "x")),
    };
    if (endpoint.path.includes(":")) {
      for (const [what, value] of Object.entries({
        NUL: "a%00b",
        "half a character": "%ff",
        "no encoding": "%zz",
        long,
        longer: long.repeat(5),
      })) {
        expectRefusal(endpoint, await daemon.ask(endpoint, { path: filled(endpoint, value), ...body }), `${what} in its path`);
      }
    }
    for (const { name, in: place } of operation.parameters ?? []) {
      if (place !== "query") continue;
      for (const value of ["a%00b", "%ff"]) {
        const reply = await daemon.ask(endpoint, { path: `${filled(endpoint).split("?")[0]}?${name}=${value}`, ...body });
        expectRefusal(endpoint, reply, `${name}=${value}`);
      }
    }
    for (const [key, broken] of bodiesWith(endpoint, operation, "a\0b")) {
      if (endpoint.verbatim?.includes(key) || !JSON.stringify(broken).includes("\\u0000")) continue;
      const reply = await daemon.ask(endpoint, { headers: JSON_TYPE, body: JSON.stringify(broken) });
      expectRefusal(endpoint, reply, `NUL in ${key}`);
    }
  }
  for (const request of [
    "GET /\xff HTTP/1.1\r\nhost: x\r\n\r\n",
    "nonsense\r\n\r\n",
    `GET /${"z".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  ]) {
    const socket = await opened(daemon.unix);
    socket.write(Buffer.from(request, "latin1"));
    const reply = await new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (part) => {
        text += part;
        if (text.includes('"error"')) resolve(text);
      });
      socket.on("close", () => resolve(text));
    });
    socket.destroy();
    expect(reply.split("\r\n")[0], request.slice(0, 40)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(JSON.parse(reply.slice(reply.indexOf("\r\n\r\n") + 4)), request.slice(0, 40)).toMatchObject({ error: { code: "usage" } });
  }
  await daemon.isWell();
});

test("a session's token cannot set fields that are not for sessions: it writes no plan records (mend 9)", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "own");
  using client = await clientAs(home, "own");
  const plan = { file: "/plan.toml", said: { agent: "forged" } };
  await expect(client.call("spawn", { body: { agent: "shell", command: ["true"], name: "child", plan } })).rejects.toMatchObject({
    code: "forbidden",
    message: 'a session may not set "plan"',
  });
  const prompt = "x";
  await expect(
    client.call("startTournament", { body: { agents: ["shell"], count: 2, cwd: home.root, env: {}, prompt, plan } }),
  ).rejects.toMatchObject({
    code: "forbidden",
  });
  using owner = home.client();
  expect(await owner.call("listDeclared", { query: { file: "/plan.toml" } })).toEqual({ declared: [] });
  expect(await home.ok(["events", "--type", "plan.declared"])).toBe("");
});

test("a command longer than the system's limit is refused (mend 9)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using client = home.client();
  const spawn = (command: string[]) => client.call("spawn", { body: { agent: "shell", cwd: home.root, env: home.env, command } });
  await expect(spawn(["true", "x".repeat(131_072)])).rejects.toMatchObject({ code: "usage" });
  await expect(spawn(["true", ...Array.from({ length: 20 }, () => "x".repeat(131_000))])).rejects.toMatchObject({ code: "usage" });
  await expect(spawn(["x".repeat(10_000)])).rejects.toMatchObject({ code: "program_not_found" });
  expect(await home.json(["ls", "--all"])).toEqual([]);
  const { command } = await spawn(["true", "x".repeat(130_000)]);
  expect(command[1]).toHaveLength(130_000);
});

test("an upgrade with a broken address is refused with that reason, and a frame over the limit ends only its own connection (mend 4)", async () => {
  await using daemon = await Daemon.start();
  await daemon.home.run("exec cat", "--name", "one", "--host", "native");
  const upgrade = (address: string) => {
    const headers = { ...daemon.authorization, connection: "upgrade", upgrade: "holdfast" };
    return ask(daemon.tcp, { method: "GET", path: address, headers });
  };
  for (const address of ["/sessions/%ff/terminal", "/sessions/a%00b/terminal", `/sessions/${"y".repeat(5000)}/terminal`, "//", "/%"]) {
    expectRefusal(ENDPOINTS.openTerminal, await upgrade(address), address);
  }
  const websocket = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": `${"x".repeat(22)}==`,
  };
  for (const address of ["/events/socket?after=%ff", "/events/socket?session=a%00b", "//", "/nowhere"]) {
    const reply = await ask(daemon.tcp, { method: "GET", path: address, headers: { ...daemon.authorization, ...websocket } });
    expectRefusal(ENDPOINTS.socketEvents, reply, address);
  }

  // Through the daemon, and directly to the holder.
  const wire = await opened(daemon.tcp);
  wire.write(
    headOf({
      method: "GET",
      path: "/sessions/one/terminal",
      headers: { ...daemon.authorization, connection: "upgrade", upgrade: "holdfast" },
    }),
  );
  await new Promise((resolve) => wire.once("data", resolve));
  const holders = readdirSync(path.dirname((daemon.unix as { path: string }).path)).filter((name) => /^\w+-\d+\.sock$/.test(name));
  expect(holders).toHaveLength(1);
  const holder = await opened({ path: path.join(path.dirname((daemon.unix as { path: string }).path), holders[0] ?? "") });
  for (const socket of [wire, holder]) {
    const closed = new Promise((resolve) => socket.resume().once("close", resolve));
    socket.write(Buffer.from([1, 255, 255, 255, 255]));
    await closed;
  }
  await daemon.home.ok(["send", "one", "still there"]);
  await eventually(async () => (await daemon.home.ok(["logs", "one"])).includes("still there"));
  await daemon.isWell();
});

test("a thousand half-open requests block no other client, over TCP and on the socket (mend 4)", async () => {
  await using daemon = await Daemon.start();
  const half: RawRequest = { method: "POST", path: "/sessions", headers: { ...JSON_TYPE, "content-length": "100" } };
  const kinds: [NetConnectOpts, string][] = [
    [daemon.tcp, "POST /sessions HTTP/1.1\r\nhost: 127"],
    [daemon.tcp, headOf({ ...half, headers: { ...half.headers, ...daemon.authorization } })],
    [daemon.unix, "POST /sessions HTTP/1.1\r\nhost: 127"],
    [daemon.unix, headOf({ ...half, headers: { ...half.headers, ...daemon.authorization } })],
  ];
  const status = { method: "GET", path: "/status", headers: daemon.authorization };
  for (const [where, said] of kinds) {
    const sockets: Socket[] = [];
    try {
      for (let round = 0; round < 11; round++) {
        const some = await Promise.all(Array.from({ length: 100 }, () => opened(where)));
        for (const socket of some) socket.write(said);
        sockets.push(...some);
      }
      for (let i = 0; i < 5; i++) expect((await ask(where, status)).status).toBe(200);
      await daemon.isWell();
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  }
});

test("a WebSocket client that sends too much is cut off: in one frame, in fragments, or in pings with unread replies (mend 4)", async () => {
  await using daemon = await Daemon.start();
  const url = `ws://127.0.0.1:${(daemon.tcp as { port: number }).port}${ENDPOINTS.socketEvents.path}`;
  const connected = () =>
    new Promise<WebSocket>((resolve, reject) => {
      const socket = new WebSocket(url, { headers: daemon.authorization, perMessageDeflate: false });
      socket.once("open", () => resolve(socket)).once("error", reject);
    });
  const closed = (socket: WebSocket) => new Promise<void>((resolve) => socket.on("error", () => {}).once("close", () => resolve()));

  const large = await connected();
  const isLargeClosed = closed(large);
  large.send(Buffer.alloc(8 * MB));
  await isLargeClosed;

  const fragments = await connected();
  const isFragmentsClosed = closed(fragments);
  const feed = () => {
    if (fragments.readyState === fragments.OPEN) fragments.send(Buffer.alloc(1000), { fin: false }, () => setImmediate(feed));
  };
  feed();
  await isFragmentsClosed;

  const small = await connected();
  for (let i = 0; i < 20_000; i++) small.send("x");
  await daemon.isWell();
  small.terminate();

  const deaf = await connected();
  const isDeafClosed = closed(deaf);
  deaf.pause();
  const ping = () => {
    if (deaf.readyState !== deaf.OPEN) return;
    for (let i = 0; i < 1000; i++) deaf.ping(Buffer.alloc(125), undefined, () => {});
    setImmediate(ping);
  };
  ping();
  await eventually(() => deaf.readyState !== deaf.OPEN || mostResidentBytes(daemon.pid) > 600 * MB);
  expect(mostResidentBytes(daemon.pid)).toBeLessThan(600 * MB);
  deaf.terminate();
  await isDeafClosed;
  await daemon.isWell();
});
