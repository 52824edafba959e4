import { expect, test } from "vitest";
import { HoldfastClient } from "./client.ts";
import { Query } from "./query.ts";
import type { Transport, WireReply, WireRequest } from "./transport.ts";

const SESSION = { id: "aaaaaaaaaa", name: "query-x", kind: "conversation", status: "working", turn: "idle", workspace: null, cwd: "/" };

const answer = (body: unknown): WireReply => ({ status: 200, body: JSON.stringify(body) });
const refusal = (code: string): WireReply => ({ status: 500, body: JSON.stringify({ error: { code, message: `it is ${code}` } }) });

/** A daemon with a conversation whose turn never ends; `stop` is its reply to the stop request. */
class Daemon implements Transport {
  readonly asked: string[] = [];
  readonly #stop: WireReply;

  constructor(stop: WireReply) {
    this.#stop = stop;
  }

  async request({ method, path, signal }: WireRequest): Promise<WireReply> {
    signal?.throwIfAborted();
    const [route = ""] = path.split("?");
    this.asked.push(`${method} ${route.replace(/^\/messages\/\w+/, "/messages/ID")}`);
    if (route.endsWith("/stop")) return this.#stop;
    if (route.endsWith("/messages")) return answer({ session: SESSION, message: { id: "bbbbbbbbbb", state: "queued" }, typed: null });
    if (route.startsWith("/messages/")) return method === "DELETE" ? refusal("message_gone") : answer({ state: "turn_started" });
    if (route.endsWith("/cancel")) return answer({ session: SESSION, cancelled: true });
    if (route === "/sessions" && method === "GET") return answer({ cursor: "e:1", sessions: [SESSION] });
    return answer(SESSION);
  }

  async stream({ signal }: WireRequest) {
    signal?.throwIfAborted();
    const over = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(": alive\n\n");
      await over;
    }
    return { status: 200, chunks: chunks() };
  }

  close(): void {}
}

async function cancelled(daemon: Daemon): Promise<unknown> {
  const query = new Query(new HoldfastClient(daemon), { agent: "demo", prompt: "hello" }, { around: { cwd: () => "/", env: () => ({}) } });
  for await (const { type } of query) {
    expect(type).toBe("started");
    break;
  }
  return query.result.catch((error: unknown) => error);
}

test("cancelling a query withdraws, interrupts, stops and removes, in that order, before it settles", async () => {
  const daemon = new Daemon(answer({ session: { ...SESSION, status: "stopped" }, killed: [] }));
  expect(await cancelled(daemon)).toMatchObject({ name: "AbortError", code: "aborted" });
  const { id } = SESSION;
  const ends = daemon.asked.filter((each) => /DELETE|cancel|stop/.test(each));
  expect(ends).toEqual(["DELETE /messages/ID", `POST /sessions/${id}/cancel`, `POST /sessions/${id}/stop`, `DELETE /sessions/${id}`]);
});

test("a failed clean-up is reported instead of the cancellation", async () => {
  const daemon = new Daemon(refusal("stop_incomplete"));
  expect(await cancelled(daemon)).toMatchObject({ code: "stop_incomplete", message: "it is stop_incomplete" });
});
