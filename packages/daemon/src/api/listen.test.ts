import { once } from "node:events";
import { existsSync, mkdtempDisposableSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Home, openHome, secureSocketDirectory } from "@holdfast/platform";
import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { listen } from "./listen.ts";

/** A server with a route that answers, one that never stops sending, and one that notices that its caller is gone. */
class Door implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly home: Home = openHome({ HOLDFAST_HOME: join(this.#directory.path, "home") });
  readonly flooding = Promise.withResolvers<void>();
  readonly left = Promise.withResolvers<void>();
  readonly ticks = Promise.withResolvers<(text: string) => void>();
  #listening: AsyncDisposable | undefined;

  async open(): Promise<this> {
    const app = new Hono();
    app.get("/ping", (c) => c.json("pong"));
    app.get("/flood", () => new Response(ReadableStream.from(this.#flood())));
    app.get(
      "/ticks",
      () => new Response(new ReadableStream({ start: (out) => this.ticks.resolve((text) => out.enqueue(Buffer.from(text))) })),
    );
    app.get("/wait", (c) => {
      c.req.raw.signal.addEventListener("abort", () => this.left.resolve());
      return new Promise<Response>(() => {});
    });
    this.#listening = await listen(app, this.home);
    return this;
  }

  /** Resolves when it has sent more than a client that does not read can take. */
  async *#flood(): AsyncGenerator<Uint8Array> {
    for (let count = 0; ; count++) {
      if (count === 3) this.flooding.resolve();
      yield new Uint8Array(64 * 1024);
    }
  }

  async close(): Promise<void> {
    await this.#listening?.[Symbol.asyncDispose]();
    this.#listening = undefined;
  }

  get(path: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      httpRequest({ socketPath: this.home.daemonSocket, path, agent: false }, resolve).on("error", reject).end();
    });
  }

  /** A client that sends this and then does not read. */
  async silentClient(said: string): Promise<Socket> {
    const socket = connect(this.home.daemonSocket).pause();
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.on("error", () => {}).write(said);
    return socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    rmSync(this.home.socketDirectory, { recursive: true, force: true });
    this.#directory.remove();
  }
}

test("only the owner can use the socket, which is removed when the server closes", async () => {
  await using door = await new Door().open();
  expect(statSync(door.home.daemonSocket).mode & 0o777).toBe(0o600);
  expect((await door.get("/ping")).statusCode).toBe(200);
  await door.close();
  expect(existsSync(door.home.daemonSocket)).toBe(false);
});

test("a file left by a dead daemon does not block the socket", async () => {
  await using door = new Door();
  secureSocketDirectory(door.home);
  writeFileSync(door.home.daemonSocket, "stale");
  await door.open();
  expect((await door.get("/ping")).statusCode).toBe(200);
});

test.each(["the socket", "its directory"])("when %s is deleted it is recreated, and open connections continue", async (what) => {
  await using door = await new Door().open();
  const log = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const open = await door.get("/ticks");
  for (let round = 0; round < 3; round++) {
    rmSync(what === "the socket" ? door.home.daemonSocket : door.home.socketDirectory, { recursive: true });
    await vi.waitFor(async () => expect((await door.get("/ping")).statusCode).toBe(200), { timeout: 4000 });
    expect(statSync(door.home.daemonSocket).mode & 0o777).toBe(0o600);
  }
  log.mockRestore();
  (await door.ticks.promise)("still here");
  expect(String((await open[Symbol.asyncIterator]().next()).value)).toBe("still here");
});

test("an idle connection is never closed by the server, because the caller could be writing to it", async () => {
  await using door = await new Door().open();
  const socket = await door.silentClient("GET /ping HTTP/1.1\r\nhost: x\r\n\r\n");
  const [head] = (await once(socket.resume(), "data")) as [Buffer];
  expect(String(head)).toContain("Connection: keep-alive");
  // Node reports a limit if there is one.
  expect(String(head)).not.toContain("Keep-Alive: timeout");
  socket.destroy();
});

test("a handler learns that its caller has disconnected", async () => {
  await using door = await new Door().open();
  const socket = await door.silentClient("GET /wait HTTP/1.1\r\nhost: x\r\n\r\n");
  await vi.waitFor(() => expect(socket.bytesWritten).toBeGreaterThan(0));
  socket.destroy();
  await door.left.promise;
});

test("a client that does not read a response does not delay closing", async () => {
  await using door = await new Door().open();
  const socket = await door.silentClient("GET /flood HTTP/1.1\r\nhost: x\r\n\r\n");
  await door.flooding.promise;
  await closesSoon(door);
  socket.destroy();
});

test.each([
  ["waits for an answer that never comes", "GET /wait HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["sent half a request", "GET /pi"],
  ["sends nothing", ""],
])("a client that %s does not delay closing", async (_, said) => {
  await using door = await new Door().open();
  const socket = await door.silentClient(said);
  expect((await door.get("/ping")).statusCode).toBe(200);
  await closesSoon(door);
  socket.destroy();
});

async function closesSoon(door: Door): Promise<void> {
  const began = performance.now();
  await door.close();
  expect(performance.now() - began).toBeLessThan(4500);
}
