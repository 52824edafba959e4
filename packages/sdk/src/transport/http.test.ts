import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { httpTransport } from "./http.ts";

class Daemon implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async of(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Daemon> {
    const server = createServer(answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Daemon(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const GET = { method: "GET", path: "/x?y=1" };
const UNREACHABLE = expect.objectContaining({ code: "daemon_unreachable", hint: expect.any(String) });

test("a request carries its token, and its reply arrives whatever its status", async () => {
  await using daemon = await Daemon.of(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { authorization, "content-type": type } = request.headers;
    response.writeHead(404).end(JSON.stringify([request.method, request.url, authorization, type, body]));
  });
  const transport = httpTransport(`${daemon.url}/`, { token: "mine" });
  expect(await transport.request(GET)).toEqual({ status: 404, body: '["GET","/x?y=1","Bearer mine",null,""]' });
  const posted = await transport.request({ method: "POST", path: "/x", body: "{}" });
  expect(posted.body).toBe('["POST","/x","Bearer mine","application/json","{}"]');
  expect((await httpTransport(daemon.url).request(GET)).body).toBe('["GET","/x?y=1",null,null,""]');
});

test("a token does not follow a redirect", async () => {
  let asked = 0;
  await using thief = await Daemon.of((_, response) => {
    asked++;
    response.end();
  });
  await using daemon = await Daemon.of((_, response) => response.writeHead(307, { location: thief.url }).end());
  await expect(httpTransport(daemon.url, { token: "mine" }).request(GET)).rejects.toEqual(UNREACHABLE);
  expect(asked).toBe(0);
});

test("a stream arrives as it is sent, ends quietly when its reader leaves, and reports a disconnect", async () => {
  await using daemon = await Daemon.of((request, response) => {
    response.write("first");
    if (request.url === "/cut") setTimeout(() => response.destroy(), 50);
  });
  const transport = httpTransport(daemon.url);
  const stop = new AbortController();
  const { status, chunks } = await transport.stream({ ...GET, signal: stop.signal });
  expect(status).toBe(200);
  const seen: string[] = [];
  for await (const chunk of chunks) {
    seen.push(Buffer.from(chunk).toString());
    stop.abort();
  }
  expect(seen).toEqual(["first"]);
  const cut = await transport.stream({ method: "GET", path: "/cut" });
  await expect(Array.fromAsync(cut.chunks)).rejects.toMatchObject({ code: "daemon_unreachable" });
  await expect(transport.request({ ...GET, signal: stop.signal })).rejects.toBe(stop.signal.reason);
});

test("close ends pending requests, and a missing listener is reported with a hint", async () => {
  await using daemon = await Daemon.of(() => {});
  const transport = httpTransport(daemon.url);
  const pending = transport.request(GET);
  transport.close();
  await expect(pending).rejects.toEqual(UNREACHABLE);
  await expect(httpTransport("http://127.0.0.1:1").request(GET)).rejects.toEqual(UNREACHABLE);
});

test.each(["", "127.0.0.1:80", "ftp://127.0.0.1", "http://user:password@127.0.0.1", "http://127.0.0.1/?token=x"])(
  "%j is not the address of a daemon",
  (url) => {
    expect(() => httpTransport(url)).toThrow(expect.objectContaining({ code: "usage" }));
  },
);
