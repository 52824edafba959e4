/** The TCP address: HTTP, SSE and WebSocket, always with a token. */
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:net";
import { type AnyEvent, type DaemonStatus, ENDPOINTS, formatCursor, type NewToken, type Scope, type Session } from "@holdfast/contract";
import { HoldfastClient, httpTransport } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { eventually, TestHome } from "./home.ts";

async function listen(home: TestHome, address = "127.0.0.1:0"): Promise<string> {
  const { listen } = await home.json<DaemonStatus>(["up", "--listen", address]);
  return listen?.url ?? "";
}

async function tokenOf(home: TestHome, scope: Scope, name: string = scope): Promise<string> {
  return (await home.json<NewToken>(["token", "create", "--scope", scope, "--name", name])).token;
}

/** `fetch` does not allow a custom Host. */
async function get(url: string, headers: Record<string, string>): Promise<{ status: number | undefined; headers: object; body: string }> {
  const reply = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request(url, { headers, agent: false }, resolve).on("error", reject).end();
  });
  let body = "";
  for await (const chunk of reply) body += chunk;
  return { status: reply.statusCode, headers: reply.headers, body };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/status`).then(
    ({ status }) => status === 401,
    () => false,
  );
}

test("an address is remembered: the next daemon listens there again, until listening is turned off", async () => {
  await using home = new TestHome();
  const said = await home.ok(["up", "--listen", "127.0.0.1:0"]);
  const url = /It listens on (http:\/\/127\.0\.0\.1:\d+), for requests with a token\n/.exec(said)?.[1] ?? "";
  expect(await answers(url)).toBe(true);
  expect((await home.json<DaemonStatus>(["status"])).listen).toEqual({ address: url.slice(7), url, public: false, error: null });
  expect(await home.ok(["status"])).toContain(`It listens on ${url}`);
  await home.killDaemon();
  expect(await answers(url)).toBe(false);
  expect((await home.json<DaemonStatus>(["status"])).listen?.url).toBe(url);
  expect(await answers(url)).toBe(true);
  await home.ok(["down"]);
  await home.ok(["ls"]);
  expect(await answers(url)).toBe(true);
  // The same address changes nothing; another one closes the first.
  expect(await listen(home)).toBe(url);
  expect(await listen(home, url.slice(7))).toBe(url);
  const other = await listen(home, "[::1]:0");
  expect(other).toMatch(/^http:\/\/\[::1\]:\d+$/);
  await eventually(async () => (await answers(other)) && !(await answers(url)));
  expect((await home.json<DaemonStatus>(["up", "--no-listen"])).listen).toBeNull();
  await eventually(async () => !(await answers(other)));
  await home.killDaemon();
  expect((await home.json<DaemonStatus>(["status"])).listen).toBeNull();
  const opened = (await home.json<{ what: string }[]>(["audit"])).map(({ what }) => what);
  expect(opened).toEqual([
    `started listening on ${url.slice(7)}`,
    "stopped the daemon",
    `started listening on ${other.slice(7)}`,
    "stopped listening on TCP",
  ]);
});

test("a taken, public or invalid address is refused with a remedy", async () => {
  await using home = new TestHome();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const inUse = await home.cli(["up", "--listen", `127.0.0.1:${port}`]);
  expect(inUse).toEqual({
    code: 21,
    stdout: "",
    stderr: `holdfast: cannot listen on 127.0.0.1:${port}: the port is in use\n  choose another address; port 0 picks a free port\n`,
  });
  for (const address of ["0.0.0.0:0", "[::]:0"]) {
    const refused = await home.cli(["up", "--listen", address]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--insecure-public");
  }
  for (const flags of [
    ["--listen", "example.org:80"],
    ["--listen", "80"],
    ["--insecure-public"],
    ["--no-listen", "--listen", "127.0.0.1:0"],
  ]) {
    expect((await home.cli(["up", ...flags])).code, flags.join(" ")).toBe(2);
  }
  expect((await home.json<DaemonStatus>(["status"])).listen).toBeNull();
  const open = await home.json<DaemonStatus>(["up", "--listen", "0.0.0.0:0", "--insecure-public"]);
  expect(open.listen).toMatchObject({ public: true, error: null });
  expect(await home.ok(["status"])).toContain("other machines can reach it, and nothing is encrypted");
  expect(await home.ok(["doctor"])).toContain("tokens and output travel unencrypted");

  // If another program took the address while no daemon ran, the daemon starts, reports it, and listens once the address is free.
  await listen(home);
  taken.close();
  await once(taken, "close");
  const url = await listen(home, `127.0.0.1:${port}`);
  await home.ok(["down"]);
  const thief = createServer().listen(port, "127.0.0.1");
  await once(thief, "listening");
  expect((await home.json<DaemonStatus>(["status"])).listen?.error).toContain("the port is in use");
  expect((await home.cli(["doctor"])).code).toBe(1);
  thief.close();
  await eventually(() => answers(url));
  expect((await home.json<DaemonStatus>(["status"])).listen?.error).toBeNull();
});

test("a foreign web page gets nothing, whatever name it uses for this address", async () => {
  await using home = new TestHome();
  const url = await listen(home);
  const { host } = new URL(url);
  const authorization = `Bearer ${await tokenOf(home, "owner")}`;
  const own = await get(`${url}/sessions`, { authorization, origin: url });
  expect(own.status).toBe(200);
  const foreign: Record<string, string>[] = [
    { host: "evil.example" },
    { host: `evil.example:${new URL(url).port}` },
    { origin: "http://evil.example" },
    { origin: "null" },
  ];
  for (const headers of foreign) {
    const { status, body, headers: got } = await get(`${url}/sessions`, { host, authorization, ...headers });
    expect(status, JSON.stringify(headers)).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ error: { code: "forbidden" } });
    expect(Object.keys(got).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
  expect(Object.keys(own.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  // A preflight request is refused.
  const preflight = await fetch(`${url}/sessions`, { method: "OPTIONS", headers: { origin: "http://evil.example" } });
  expect(preflight.ok).toBe(false);
});

test("the SDK works over HTTP as over the Unix socket", async () => {
  await using home = new TestHome();
  const url = await listen(home);
  using client = new HoldfastClient(httpTransport(url, { token: await tokenOf(home, "driver", "program") }));
  const stop = new AbortController();
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { type } of client.events({ query: { type: ["session.started", "session.ended"] } }, stop.signal)) seen.push(type);
  })();
  const command = ["sh", "-c", "read -r line; echo got $line; seq 50000"];
  const session = await client.call("spawn", { body: { agent: "shell", cwd: "/", env: { PATH: process.env.PATH ?? "" }, command } });
  expect(session.owner).toBe("token:program");
  await client.call("sendText", { params: { ref: session.id }, body: { text: "hello" } });
  let output = "";
  for await (const chunk of await client.bytes({ params: { ref: session.id }, query: { follow: true } }))
    output += Buffer.from(chunk).toString();
  expect(output).toContain("got hello\r\n1\r\n");
  expect(output.endsWith("50000\r\n")).toBe(true);
  await eventually(() => seen.length === 2);
  expect(seen).toEqual(["session.started", "session.ended"]);
  stop.abort();
  await reading;
  await expect(client.call("getSession", { params: { ref: "nobody" } })).rejects.toMatchObject({ code: "session_not_found" });
  await expect(client.call("shutdown", { body: {} })).rejects.toMatchObject({ code: "forbidden" });
  await expect(client.bytes({ params: { ref: "nobody" } })).rejects.toMatchObject({ code: "session_not_found" });
  expect(() => httpTransport("ftp://127.0.0.1")).toThrow(expect.objectContaining({ code: "usage" }));
  await home.ok(["up", "--no-listen"]);
  await expect(eventually(() => client.call("status", {}).then(() => undefined))).rejects.toMatchObject({ code: "daemon_unreachable" });
});

test("the CLI works through HOLDFAST_URL without its own home; attach --json says why it cannot", async () => {
  await using home = new TestHome();
  await using elsewhere = new TestHome();
  const env = { HOLDFAST_URL: await listen(home), HOLDFAST_TOKEN: await tokenOf(home, "owner", "remote") };
  const { id } = await elsewhere.json<Session>(["run", "--name", "there", "--", "sh", "-c", "echo said; sleep 1000"], { env });
  expect((await home.session("there")).owner).toBe("token:remote");
  await eventually(async () => (await elsewhere.ok(["logs", "there"], { env })).includes("said"));
  expect(await elsewhere.ok(["ls", "--wide"], { env })).toContain(id);
  expect(await elsewhere.json<DaemonStatus>(["up"], { env })).toMatchObject({ home: home.path, actor: "token:remote" });
  const attach = await elsewhere.cli(["attach", "--json", "there"], { env });
  expect(attach.code).toBe(2);
  expect(attach.stderr).toContain(`and this daemon is ${env.HOLDFAST_URL}`);
  expect((await elsewhere.cli(["ls"], { env: { HOLDFAST_URL: env.HOLDFAST_URL } })).code).toBe(22);
  expect((await elsewhere.cli(["ls"], { env: { ...env, HOLDFAST_URL: "http://127.0.0.1:1" } })).code).toBe(10);
  expect((await elsewhere.cli(["ls"], { env: { ...env, HOLDFAST_URL: "nonsense" } })).code).toBe(2);
  expect(elsewhere.processes()).toEqual([]);
  expect(await elsewhere.ok(["down"], { env })).toContain("The daemon has stopped");
  await eventually(async () => !(await answers(env.HOLDFAST_URL)));
});

/** A WebSocket's data until it closed. */
class Reader {
  readonly events: AnyEvent[] = [];
  readonly socket: WebSocket;
  closed: number | undefined;

  constructor(url: string, how: { protocols?: string[]; headers?: Record<string, string> } = {}) {
    this.socket = new WebSocket(url, how.protocols ?? [], { headers: how.headers ?? {} });
    this.socket.on("message", (data) => this.events.push(JSON.parse(String(data)) as AnyEvent));
    this.socket.on("close", (code) => {
      this.closed = code;
    });
  }

  /** The response in place of an upgrade. */
  static async refused(
    url: string,
    how: { protocols?: string[]; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; code: string }> {
    const { socket } = new Reader(url, how);
    socket.on("error", () => {});
    const [, reply] = (await once(socket, "unexpected-response")) as [unknown, import("node:http").IncomingMessage];
    let body = "";
    for await (const chunk of reply) body += chunk;
    return { status: reply.statusCode ?? 0, code: (JSON.parse(body) as { error: { code: string } }).error.code };
  }
}

test("a WebSocket gets every event once from its cursor on, with the token as a protocol or a header", async () => {
  await using home = new TestHome();
  const url = (await listen(home)).replace("http", "ws") + ENDPOINTS.socketEvents.path;
  const token = await tokenOf(home, "observer");
  const browser = new Reader(url, { protocols: ["holdfast", `token.${token}`] });
  const program = new Reader(url, { headers: { authorization: `Bearer ${token}` } });
  await home.run("exit 0", "--name", "one");
  await home.ended("one");
  for (const { events, socket } of [browser, program]) {
    await eventually(() => events.some(({ type }) => type === "session.ended"));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(socket.protocol).toBe(socket === browser.socket ? "holdfast" : "");
  }
  const third = browser.events[2] as AnyEvent;
  const later = new Reader(`${url}?after=${formatCursor(third)}&type=session.created,session.ended`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await eventually(() => later.events.length === 2);
  expect(later.events.map(({ type }) => type)).toEqual(["session.created", "session.ended"]);

  await home.ok(["token", "revoke", "observer"]);
  await home.run("exit 0", "--name", "two");
  for (const reader of [browser, program, later]) {
    await eventually(() => reader.closed !== undefined);
    expect(reader.closed).toBe(1001);
    expect(reader.events.filter(({ type }) => type === "token.revoked")).toEqual([]);
  }
});

test("a WebSocket is refused like any request, before the upgrade", async () => {
  await using home = new TestHome();
  const url = (await listen(home)).replace("http", "ws") + ENDPOINTS.socketEvents.path;
  const authorization = `Bearer ${await tokenOf(home, "observer")}`;
  expect(await Reader.refused(url)).toEqual({ status: 401, code: "unauthenticated" });
  expect(await Reader.refused(url, { protocols: ["holdfast", "token.nonsense"] })).toEqual({ status: 401, code: "unauthenticated" });
  expect(await Reader.refused(url, { headers: { authorization, origin: "http://evil.example" } })).toEqual({
    status: 403,
    code: "forbidden",
  });
  expect(await Reader.refused(url, { headers: { authorization, host: "evil.example" } })).toEqual({ status: 403, code: "forbidden" });
  expect(await Reader.refused(`${url}?after=other:1`, { headers: { authorization } })).toEqual({ status: 410, code: "cursor_gone" });
  expect(await Reader.refused(`${url}?session=nobody`, { headers: { authorization } })).toEqual({ status: 404, code: "session_not_found" });
  expect(await Reader.refused(url.replace("/events/socket", "/sessions"), { headers: { authorization } })).toEqual({
    status: 400,
    code: "usage",
  });
  const plain = await fetch(url.replace("ws", "http"), { headers: { authorization } });
  expect(plain.status).toBe(400);
});
