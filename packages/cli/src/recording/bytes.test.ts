import { mkdtempDisposableSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastClient } from "@holdfast/sdk/client";
import { unixTransport } from "@holdfast/sdk/transport/unix";
import { expect, test } from "vitest";
import type { Context } from "../command.ts";
import { bytesOf } from "./bytes.ts";

/** A daemon with one recording that answers as the test says. */
class Daemon implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #client = new HoldfastClient(unixTransport(join(this.#directory.path, "sock")));
  readonly context = { client: this.#client } as unknown as Context;
  asked: string[] = [];
  /** The untilGap parameter of each request for output. */
  untilGap: (string | null)[] = [];

  constructor(answer: (request: { from: number; output: boolean; response: ServerResponse }) => void) {
    this.#server = createServer((request: IncomingMessage, response) => {
      const url = new URL(request.url ?? "", "http://x");
      this.asked.push(url.pathname.split("/").at(-1) ?? "");
      if (url.pathname.endsWith("/output")) this.untilGap.push(url.searchParams.get("untilGap"));
      answer({ from: Number(url.searchParams.get("from") ?? 0), output: url.pathname.endsWith("/output"), response });
    });
    this.#server.on("connection", (socket) => this.#sockets.add(socket.on("error", () => {})));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(join(this.#directory.path, "sock"), resolve));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#directory.remove();
  }
}

function json(response: ServerResponse, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(200, { "content-length": Buffer.byteLength(body) }).end(body);
}

async function text(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(bytes)).toString("utf8");
}

const WHOLE = "0123456789";

test.each([true, false])("a stream that is cut off repeatedly continues from its last byte (follow: %s)", async (follow) => {
  await using daemon = await new Daemon(({ from, output, response }) => {
    if (!output) return json(response, { bytes: WHOLE.length, ended: true, gaps: [] });
    // Three bytes, then the daemon dies: to the reader it looks like the end.
    response.writeHead(200).write(WHOLE.slice(from, from + 3), () => response.socket?.destroy());
  }).listen();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, until: WHOLE.length, follow }))).toBe(WHOLE);
});

test("an existing recording needs one request", async () => {
  await using daemon = await new Daemon(({ from, response }) => void response.writeHead(200).end(WHOLE.slice(from))).listen();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 4, until: WHOLE.length, follow: false }))).toBe("456789");
  expect(daemon.asked).toEqual(["output"]);
});

test("a silent run that cannot be watched is polled with pauses", async () => {
  let looks = 0;
  await using daemon = await new Daemon(({ output, response }) => {
    if (output) response.writeHead(200).end();
    else json(response, { bytes: 0, ended: ++looks > 4, gaps: [] });
  }).listen();
  const began = performance.now();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true }))).toBe("");
  expect(performance.now() - began).toBeGreaterThanOrEqual(4 * 45);
});

test("a daemon that never answers is reported after a few attempts", async () => {
  await using daemon = await new Daemon(({ response }) => void response.socket?.destroy()).listen();
  await expect(text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true }))).rejects.toMatchObject({
    code: "daemon_unreachable",
  });
  expect(daemon.asked.length).toBeGreaterThan(2);
});

test("an error from the daemon is reported at once", async () => {
  await using daemon = await new Daemon(({ response }) => {
    const body = JSON.stringify({ error: { code: "session_not_found", message: "no" } });
    response.writeHead(404).end(body);
  }).listen();
  await expect(text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true }))).rejects.toMatchObject({
    code: "session_not_found",
  });
  expect(daemon.asked).toHaveLength(1);
});

test("an aborted reader ends the stream", async () => {
  const stop = new AbortController();
  await using daemon = await new Daemon(
    ({ response }) => void response.writeHead(200).write("0123", () => setTimeout(() => stop.abort(), 20)),
  ).listen();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true, signal: stop.signal }))).toBe("0123");
});

const hole = (offset: number) => ({ offset, bytes: null, why: "x", began: null });

test("a gap that appears during reading is reported once, between the bytes before and after it", async () => {
  let known = [hole(0)];
  await using daemon = await new Daemon(({ from, output, response }) => {
    if (!output) return json(response, { bytes: WHOLE.length, ended: true, gaps: known });
    // The stream ends where the reader does not know of a gap yet; from then on the daemon reports it.
    const end = known.length === 1 ? 4 : undefined;
    known = [hole(0), hole(4), hole(WHOLE.length)];
    response.writeHead(200).end(WHOLE.slice(from, end));
  }).listen();
  let told = "";
  const onGap = ({ offset }: { offset: number }) => {
    told += `[${offset}]`;
  };
  const gaps = known;
  for await (const bytes of bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true, gaps, onGap })) told += Buffer.from(bytes);
  expect(told).toBe("[0]0123[4]456789[10]");
  expect(daemon.untilGap).toEqual(["1", "5"]);
});

test("a known gap is reported in its place, even if the stream continues over it", async () => {
  await using daemon = await new Daemon(({ from, response }) => void response.writeHead(200).end(WHOLE.slice(from))).listen();
  const told: (string | number)[] = [];
  const gaps = [hole(2), hole(5), hole(8)];
  const options = {
    ref: "x",
    run: 1,
    from: 4,
    until: 8,
    follow: false,
    gaps,
    onGap: ({ offset }: { offset: number }) => void told.push(offset),
  };
  for await (const bytes of bytesOf(daemon.context, options)) told.push(Buffer.from(bytes).toString());
  expect(told).toEqual(["4", 5, "567", 8]);
});

test("a reader that is aborted before the daemon answers gets an empty stream, not an error", async () => {
  const over = new AbortController();
  await using daemon = await new Daemon(() => over.abort()).listen();
  const read = bytesOf(daemon.context, { ref: "it", run: 1, from: 0, follow: true, signal: over.signal });
  expect(await text(read)).toBe("");
});
