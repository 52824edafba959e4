import { mkdtempDisposableSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { Transport } from "../transport.ts";
import { unixTransport } from "./unix.ts";

/** A server on a socket in a temporary directory, with a transport to it. */
class Daemon implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly #server: HttpServer | Server;
  readonly sockets = new Set<Socket>();
  readonly path = join(this.#directory.path, "daemon.sock");
  readonly transport: Transport = unixTransport(this.path);
  connections = 0;

  private constructor(server: HttpServer | Server) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on("error", () => {}).on("close", () => this.sockets.delete(socket));
    });
  }

  /** Speaks HTTP, as the real daemon does. */
  static async http(answer: (request: IncomingMessage & { body: string }, response: ServerResponse) => void): Promise<Daemon> {
    const server = createHttpServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString("utf8");
      answer(Object.assign(request, { body }), response);
    });
    return new Daemon(server).#listening();
  }

  /** Sends arbitrary bytes. */
  static async raw(talk: (socket: Socket, said: string) => void): Promise<Daemon> {
    const server = createServer((socket) => void socket.on("data", (said) => talk(socket, String(said))));
    return new Daemon(server).#listening();
  }

  async #listening(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.path, resolve));
    return this;
  }

  /** Simulates a killed daemon: all connections and the socket are gone. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.transport.close();
    await this.stop();
    this.#directory.remove();
  }
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { "content-length": Buffer.byteLength(body) }).end(body);
}

const GET = { method: "GET", path: "/x" };
const POST = { method: "POST", path: "/x", body: "{}" };
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const UNREACHABLE = expect.objectContaining({ code: "daemon_unreachable" });

test("a request arrives unchanged with the client's version, and its reply comes back", async () => {
  await using daemon = await Daemon.http((request, response) => {
    const { method, url, body, headers } = request;
    json(response, { method, url, body, version: headers["holdfast-version"] !== undefined, type: headers["content-type"] }, 418);
  });
  const reply = await daemon.transport.request({ method: "POST", path: "/a%20b?c=%C3%A9", body: '{"text":"漢字 🦭"}' });
  expect(reply.status).toBe(418);
  expect(JSON.parse(reply.body)).toEqual({
    method: "POST",
    url: "/a%20b?c=%C3%A9",
    body: '{"text":"漢字 🦭"}',
    version: true,
    type: "application/json",
  });
});

test("requests one after the other share a connection", async () => {
  await using daemon = await Daemon.http((request, response) => json(response, request.url));
  for (let i = 0; i < 20; i++) expect((await daemon.transport.request({ ...GET, path: `/${i}` })).body).toBe(`"/${i}"`);
  expect(daemon.connections).toBe(1);
});

test("concurrent requests do not wait for each other, and each gets its own reply", async () => {
  const held: (() => void)[] = [];
  await using daemon = await Daemon.http((request, response) => {
    const answer = () => json(response, request.body);
    if (request.url === "/slow") held.push(answer);
    else answer();
  });
  const slow = daemon.transport.request({ method: "POST", path: "/slow", body: '"slow"' });
  const bodies = Array.from({ length: 300 }, (_, i) => String(i));
  const replies = await Promise.all(bodies.map((body) => daemon.transport.request({ method: "POST", path: "/fast", body })));
  expect(replies.map(({ body }) => JSON.parse(body) as string)).toEqual(bodies);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  held[0]?.();
  expect((await slow).body).toBe(JSON.stringify('"slow"'));
});

test("large bodies work in both directions", async () => {
  await using daemon = await Daemon.http((request, response) => json(response, { echo: request.body, length: request.body.length }));
  const body = JSON.stringify("é漢🦭".repeat(300_000));
  const reply = JSON.parse((await daemon.transport.request({ ...POST, body })).body) as { echo: string };
  expect(reply.echo === body).toBe(true);
});

test("a reply that arrives byte by byte is complete", async () => {
  const reply = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX-Other: content-length: 3\r\n\r\n漢字\r\n";
  await using daemon = await Daemon.raw((socket) => void trickle(socket, Buffer.from(reply)));
  expect(await daemon.transport.request(GET)).toEqual({ status: 200, body: "漢字\r\n" });
});

async function trickle(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    socket.write(Uint8Array.of(byte));
    await new Promise(setImmediate);
  }
}

test.each([
  ["before the reply", ""],
  ["in the head", "HTTP/1.1 200 OK\r\ncontent-le"],
  ["in the body", "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf"],
])("a reply cut off %s is an error, and the next request goes through", async (_, said) => {
  let calls = 0;
  await using daemon = await Daemon.raw((socket) => void (++calls === 1 ? socket.end(said) : socket.write(OK)));
  await expect(daemon.transport.request(POST)).rejects.toThrow(UNREACHABLE);
  expect((await daemon.transport.request(POST)).body).toBe("ok");
});

test.each(["SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/2 200\r\n\r\n", "\r\n\r\n"])(
  "another program on the socket (%j) is reported, for requests and streams",
  async (said) => {
    await using daemon = await Daemon.raw((socket) => void socket.write(said));
    await expect(daemon.transport.request(GET)).rejects.toThrow(UNREACHABLE);
    await expect(daemon.transport.stream(GET)).rejects.toThrow(UNREACHABLE);
    // Connections to another program are closed.
    await vi.waitFor(() => expect(daemon.sockets.size).toBe(0));
  },
);

test("a reply without a length ends with its connection", async () => {
  await using daemon = await Daemon.raw((socket) => {
    socket.write("HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n");
    setImmediate(() => socket.end("too long"));
  });
  expect(await daemon.transport.request(GET)).toEqual({ status: 431, body: "too long" });
  expect((await daemon.transport.request(GET)).status).toBe(431);
});

test("a missing listener is reported with the system's error", async () => {
  await using daemon = await Daemon.http((_, response) => json(response, 1));
  await daemon.stop();
  await expect(daemon.transport.request(GET)).rejects.toMatchObject({ code: "ENOENT" });
  await expect(daemon.transport.stream(GET)).rejects.toMatchObject({ code: "ENOENT" });
});

test("if an idle connection closes during use, a GET is repeated and a POST is not", async () => {
  const asked: string[] = [];
  await using daemon = await Daemon.raw((socket, said) => {
    const method = said.split(" ")[0] ?? "";
    asked.push(method);
    // The first request on a connection is answered; the second finds the connection closed.
    if (asked.length % 2 === 1) socket.write(OK);
    else socket.destroy();
  });
  await daemon.transport.request(GET);
  expect((await daemon.transport.request(GET)).body).toBe("ok");
  expect(asked).toEqual(["GET", "GET", "GET"]);
  await expect(daemon.transport.request(POST)).rejects.toThrow(UNREACHABLE);
  expect(asked).toEqual(["GET", "GET", "GET", "POST"]);
});

test("a connection that was closed while idle is not used again", async () => {
  await using daemon = await Daemon.http((_, response) => json(response, 1));
  await daemon.transport.request(POST);
  for (const socket of daemon.sockets) socket.end();
  await vi.waitFor(() => expect(daemon.sockets.size).toBe(0));
  await delay(0);
  expect((await daemon.transport.request(POST)).status).toBe(200);
});

test("an aborted request fails at once with the given reason", async () => {
  await using daemon = await Daemon.http(() => {});
  const stop = new AbortController();
  const waiting = daemon.transport.request({ ...GET, signal: stop.signal });
  await vi.waitFor(() => expect(daemon.connections).toBe(1));
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(daemon.transport.request({ ...GET, signal: stop.signal })).rejects.toThrow("enough");
  await vi.waitFor(() => expect(daemon.sockets.size).toBe(0));
  expect(daemon.connections).toBe(1);
});

test("a request leaves no listener on its signal", async () => {
  await using daemon = await Daemon.http((_, response) => json(response, 1));
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, "addEventListener");
  const remove = vi.spyOn(signal, "removeEventListener");
  for (let i = 0; i < 5; i++) await daemon.transport.request({ ...GET, signal });
  const { chunks } = await daemon.transport.stream({ ...GET, signal });
  await Array.fromAsync(chunks);
  expect(add.mock.calls.length).toBeGreaterThanOrEqual(6);
  await vi.waitFor(() => expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener)));
});

test("a stream delivers data as it arrives and ends when the daemon ends it", async () => {
  const stream = Promise.withResolvers<ServerResponse>();
  await using daemon = await Daemon.http((_, response) => stream.resolve(response.writeHead(200)));
  const opening = daemon.transport.stream(GET);
  const response = await stream.promise;
  response.write("one");
  const { status, chunks } = await opening;
  expect(status).toBe(200);
  const iterator = chunks[Symbol.asyncIterator]();
  expect(String((await iterator.next()).value)).toBe("one");
  response.write("two");
  expect(String((await iterator.next()).value)).toBe("two");
  response.end();
  expect((await iterator.next()).done).toBe(true);
});

test("a slow reader of a stream slows the daemon down instead of filling memory", async () => {
  const size = 64 * 1024 * 1024;
  let written = 0;
  await using daemon = await Daemon.http((_, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024);
    const more = () => {
      while (written < size) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const { chunks } = await daemon.transport.stream(GET);
  const iterator = chunks[Symbol.asyncIterator]();
  await iterator.next();
  let before = -1;
  while (before !== written) {
    before = written;
    await delay(50);
  }
  expect(written).toBeLessThan(16 * 1024 * 1024);
  let read = 0;
  for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) read += chunk.length;
  expect(read).toBeGreaterThan(size - 1024 * 1024);
});

test("a reader that leaves a stream closes its connection", async () => {
  await using daemon = await Daemon.http((_, response) => void response.writeHead(200).write("one"));
  const { chunks } = await daemon.transport.stream(GET);
  for await (const _chunk of chunks) break;
  await vi.waitFor(() => expect(daemon.sockets.size).toBe(0));
});

test("an aborted stream ends while opening, while waiting and before it starts", async () => {
  await using daemon = await Daemon.http((request, response) => {
    if (request.url !== "/silent") response.writeHead(200).write("one");
  });
  const waiting = new AbortController();
  const { chunks } = await daemon.transport.stream({ ...GET, signal: waiting.signal });
  const reading = Array.fromAsync(chunks);
  waiting.abort();
  expect(Buffer.concat(await reading).length).toBeLessThanOrEqual(3);

  const opening = new AbortController();
  const silent = daemon.transport.stream({ ...GET, path: "/silent", signal: opening.signal });
  const refused = expect(silent).rejects.toThrow("enough");
  opening.abort(new Error("enough"));
  await refused;
  await expect(daemon.transport.stream({ ...GET, signal: opening.signal })).rejects.toThrow("enough");
  await vi.waitFor(() => expect(daemon.sockets.size).toBe(0));
});

test("a daemon that dies during a stream ends it after the received data", async () => {
  await using daemon = await Daemon.http((_, response) => void response.writeHead(200).write("one"));
  const { chunks } = await daemon.transport.stream(GET);
  const iterator = chunks[Symbol.asyncIterator]();
  expect(String((await iterator.next()).value)).toBe("one");
  const next = iterator.next().then(
    ({ done }) => done,
    (error: unknown) => (error as { code?: string }).code,
  );
  await daemon.stop();
  expect([true, "daemon_unreachable"]).toContain(await next);
});

test("close lets a program exit while the daemon keeps running", async () => {
  await using daemon = await Daemon.http((_, response) => json(response, 1));
  await Promise.all([daemon.transport.request(GET), daemon.transport.request(GET)]);
  daemon.transport.close();
  await vi.waitFor(() => expect(daemon.sockets.size).toBe(0));
});

test("a request uses the given token, else HOLDFAST_TOKEN, else none", async () => {
  await using daemon = await Daemon.http((request, response) => json(response, request.headers.authorization ?? null));
  const said = async (transport: Transport) => {
    const { body } = await transport.request(GET);
    const chunks = await Array.fromAsync((await transport.stream(GET)).chunks);
    expect(Buffer.concat(chunks).toString()).toBe(body);
    transport.close();
    return JSON.parse(body) as string | null;
  };
  expect(await said(unixTransport(daemon.path, { token: "given" }))).toBe("Bearer given");
  vi.stubEnv("HOLDFAST_TOKEN", "of-the-run");
  expect(await said(unixTransport(daemon.path))).toBe("Bearer of-the-run");
  expect(await said(unixTransport(daemon.path, { token: "given" }))).toBe("Bearer given");
  expect(await said(unixTransport(daemon.path, {}))).toBeNull();
  vi.stubEnv("HOLDFAST_TOKEN", "");
  expect(await said(unixTransport(daemon.path))).toBeNull();
  vi.unstubAllEnvs();
  for (const token of ["a b", "a\r\nx: y", "ä"]) {
    expect(() => unixTransport(daemon.path, { token })).toThrow(expect.objectContaining({ code: "unauthenticated" }));
  }
});
