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

/** A daemon that has this recording and answers as the test says. */
class Daemon implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #client = new HoldfastClient(unixTransport(join(this.#directory.path, "sock")));
  readonly context = { client: this.#client } as unknown as Context;
  asked: string[] = [];
  /** Where a reader asked the stream to end. */
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

test.each([true, false])("a stream that is cut off again and again is read on from where it was (follow: %s)", async (follow) => {
  await using daemon = await new Daemon(({ from, output, response }) => {
    if (!output) return json(response, { bytes: WHOLE.length, ended: true, gaps: [] });
    // Three bytes, then the daemon dies: to the reader it looks like the end.
    response.writeHead(200).write(WHOLE.slice(from, from + 3), () => response.socket?.destroy());
  }).listen();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, until: WHOLE.length, follow }))).toBe(WHOLE);
});

test("a recording that is there needs one request", async () => {
  await using daemon = await new Daemon(({ from, response }) => void response.writeHead(200).end(WHOLE.slice(from))).listen();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 4, until: WHOLE.length, follow: false }))).toBe("456789");
  expect(daemon.asked).toEqual(["output"]);
});

test("a run that says nothing and cannot be watched is asked about now and then, not all the time", async () => {
  let looks = 0;
  await using daemon = await new Daemon(({ output, response }) => {
    if (output) response.writeHead(200).end();
    else json(response, { bytes: 0, ended: ++looks > 4, gaps: [] });
  }).listen();
  const began = performance.now();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true }))).toBe("");
  expect(performance.now() - began).toBeGreaterThanOrEqual(4 * 45);
});

test("a daemon that never answers is told after a few times, not tried for ever", async () => {
  await using daemon = await new Daemon(({ response }) => void response.socket?.destroy()).listen();
  await expect(text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true }))).rejects.toMatchObject({
    code: "daemon_unreachable",
  });
  expect(daemon.asked.length).toBeGreaterThan(2);
});

test("what the daemon refuses is told at once", async () => {
  await using daemon = await new Daemon(({ response }) => {
    const body = JSON.stringify({ error: { code: "session_not_found", message: "no" } });
    response.writeHead(404).end(body);
  }).listen();
  await expect(text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true }))).rejects.toMatchObject({
    code: "session_not_found",
  });
  expect(daemon.asked).toHaveLength(1);
});

test("a reader that has enough ends it", async () => {
  const stop = new AbortController();
  await using daemon = await new Daemon(
    ({ response }) => void response.writeHead(200).write("0123", () => setTimeout(() => stop.abort(), 20)),
  ).listen();
  expect(await text(bytesOf(daemon.context, { ref: "x", run: 1, from: 0, follow: true, signal: stop.signal }))).toBe("0123");
});

const hole = (offset: number) => ({ offset, bytes: null, why: "x", began: null });

test("a hole that comes while somebody reads stands between what was before it and what is after it, and is told once", async () => {
  let known = [hole(0)];
  await using daemon = await new Daemon(({ from, output, response }) => {
    if (!output) return json(response, { bytes: WHOLE.length, ended: true, gaps: known });
    // The stream ends where the reader does not know of a hole; from then on the daemon names it.
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

test("a hole that was known before is where it is, also when the stream goes on over it", async () => {
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

test("a reader who gives up before the daemon has answered gets the end, not an error", async () => {
  const over = new AbortController();
  await using daemon = await new Daemon(() => over.abort()).listen();
  const read = bytesOf(daemon.context, { ref: "it", run: 1, from: 0, follow: true, signal: over.signal });
  expect(await text(read)).toBe("");
});
