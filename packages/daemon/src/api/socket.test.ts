import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type AnyEvent, HoldfastError } from "@holdfast/contract";
import { expect, test, vi } from "vitest";
import { type Door, Gate, UNIX_DOOR } from "./gate.ts";
import { serve } from "./serve.ts";
import { eventSockets } from "./socket.ts";

const PIECE = "x".repeat(64 * 1024);

/** A server with large events that counts how many were requested. */
class Events implements AsyncDisposable {
  asked = 0;
  gone = false;
  readonly #served;
  readonly #open = new Set<Socket>();

  constructor(source: (events: Events) => AsyncGenerator<AnyEvent | undefined>, stalledMs?: number) {
    const identity = { actor: "user:tester", scope: "owner", reach: undefined, lasts: true, isValid: () => true };
    const gate = new Gate({
      access: { identify: () => identity } as never,
      refusals: {} as never,
      queries: {} as never,
      workspaces: {} as never,
    });
    const socketEvents = () => source(this);
    const how = { gate, door: UNIX_DOOR as Door, ...(stalledMs === undefined ? {} : { stalledMs }) };
    this.#served = serve({ fetch: () => new Response() }, { upgrade: eventSockets({ socketEvents }, how), most: 100 });
    this.#served.server.on("connection", (socket) => {
      this.#open.add(socket);
      socket.on("close", () => this.#open.delete(socket));
    });
  }

  /** A client that speaks the protocol directly and reads only on request. */
  async client(): Promise<Socket> {
    this.#served.server.listen(0, "127.0.0.1");
    await once(this.#served.server, "listening");
    const socket = connect((this.#served.server.address() as AddressInfo).port, "127.0.0.1").pause();
    const key = Buffer.alloc(16).toString("base64");
    socket.write(
      `GET /events/socket HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    );
    return socket;
  }

  get connections(): number {
    return this.#open.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served.end();
  }
}

async function* numbered(events: Events, count: number): AsyncGenerator<AnyEvent> {
  try {
    for (let seq = 1; seq <= count; seq++) {
      events.asked = seq;
      yield { seq, data: { text: PIECE } } as unknown as AnyEvent;
    }
    await new Promise(() => {});
  } finally {
    events.gone = true;
  }
}

async function settled(value: () => number): Promise<number> {
  for (let before = -1; ; ) {
    const now = value();
    if (now === before && now > 0) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test("a reader that stops reading gets no more than the buffers hold, and everything once it continues", async () => {
  const count = 1000;
  await using events = new Events((self) => numbered(self, count));
  const socket = await events.client();
  const held = await settled(() => events.asked);
  expect(held).toBeLessThan(count / 2);
  const seqs: number[] = [];
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    for (const [, seq] of chunk.matchAll(/"seq":(\d+),/g)) seqs.push(Number(seq));
  });
  socket.resume();
  await vi.waitFor(() => expect(seqs.at(-1)).toBe(count), { timeout: 20_000 });
  expect(events.asked).toBe(count);
  socket.destroy();
});

test("a reader that reads nothing for too long is dropped, and its source ends", async () => {
  await using events = new Events((self) => numbered(self, 1000), 300);
  const socket = await events.client();
  socket.on("error", () => {});
  await vi.waitFor(() => expect(events.gone).toBe(true), { timeout: 10_000 });
  expect(events.asked).toBeLessThan(1000);
  socket.destroy();
});

test("a refused connection is soon closed, even if the client keeps its side open", async () => {
  await using events = new Events(() => {
    throw new HoldfastError("cursor_gone", "it is gone");
  });
  const socket = await events.client();
  socket.allowHalfOpen = true;
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await vi.waitFor(() => expect(events.connections).toBe(1));
  await once(socket.resume(), "end");
  expect(text).toMatch(/^HTTP\/1\.1 410 Gone\r\n.*"code":"cursor_gone"/s);
  await vi.waitFor(() => expect(events.connections).toBe(0), { timeout: 3000 });
  socket.destroy();
});

test("a reader that does not answer a ping is dropped at the next one", async () => {
  const next: (() => void)[] = [];
  async function* silence(): AsyncGenerator<undefined> {
    for (;;) {
      await new Promise<void>((resolve) => next.push(resolve));
      yield undefined;
    }
  }
  await using events = new Events(silence);
  const socket = (await events.client()).resume();
  const closed = once(socket, "close");
  for (let i = 0; i < 2; i++) {
    await vi.waitFor(() => expect(next.length).toBe(i + 1));
    next[i]?.();
  }
  await closed;
});
