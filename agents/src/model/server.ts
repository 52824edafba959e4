/**
 * A model on 127.0.0.1 that follows the script in the prompt, for every API that the agents speak. It records all requests and how each ended, so
 * that a test can see what reached the model. It keeps no conversation between requests: clients send all of it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, ListenOptions } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropic } from "./anthropic.ts";
import { type Part, type Question, record, sinceLastPrompt, tokensAsked } from "./conversation.ts";
import type { Dialect } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { type Failure, Player, type Plays, type Reply } from "./reply.ts";

const DIALECTS: readonly Dialect[] = [openaiChat, openaiResponses, anthropic, gemini];

/** Comments keep a connection alive and are not events. */
const NOISE = ": noise\n\n: more of it\n\n";

export interface Asked {
  dialect: string;
  path: string;
  model: string;
  /** The user's last prompt. */
  prompt: string;
  /** Tool results since then. */
  results: string[];
  /** Names of the offered tools. */
  tools: string[];
  status: number;
  /** `open` while it is answered; `aborted` if the client disconnected. */
  state: "open" | "ended" | "aborted";
  answer: Part[];
  /** Times of the request and of the end of its connection, in milliseconds since 1970. */
  at: number;
  endedAt: number | null;
}

export interface Model extends AsyncDisposable {
  url: string;
  port: number;
  asked: Asked[];
  /** Bodies of all requests, for tests of what a client sends. */
  bodies: Record<string, unknown>[];
}

/** `socket` is a second entrance, for tests outside the isolated network of the model and the agents. */
export async function startModel({ port = 0, socket, plays }: { port?: number; socket?: string; plays?: Plays } = {}): Promise<Model> {
  const asked: Asked[] = [];
  const bodies: Record<string, unknown>[] = [];
  const player = new Player(plays);
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  };
  const server = createServer(onRequest);
  const control = socket === undefined ? undefined : createServer(onRequest);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://model").pathname);
    const text = await bodyOf(request);
    const dialect = request.method === "POST" ? DIALECTS.find((each) => each.asks(path)) : undefined;
    if (dialect === undefined) return json(response, ...other(path, text, asked, bodies));
    const body = parse(text);
    if (body === undefined) return json(response, 400, { error: { message: "the body is not JSON" } });
    bodies.push(body);
    await answer({ dialect, question: dialect.read(body, path), path, response });
  }

  async function answer({ dialect, question, path, response }: Answer): Promise<void> {
    const { prompt, results } = sinceLastPrompt(question);
    const tools = question.tools.map(({ name }) => name);
    const entry: Asked = {
      dialect: dialect.name,
      path,
      model: question.model,
      prompt,
      results,
      tools,
      status: 200,
      state: "open",
      answer: [],
      at: Date.now(),
      endedAt: null,
    };
    asked.push(entry);
    const gone = new AbortController();
    response.once("close", () => {
      if (entry.state === "open") entry.state = "aborted";
      entry.endedAt = Date.now();
      gone.abort();
    });
    const reply = player.reply(question);
    try {
      if (reply.delayMs > 0) await sleep(reply.delayMs, undefined, { signal: gone.signal });
      if (reply.kind === "failure") return fail(reply.failure);
      if (reply.end === "reset") return void reset();
      await give(reply);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }

    function fail(failure: Failure): void {
      entry.status = failure.status;
      if (failure.retryAfter !== undefined) response.setHeader("retry-after", failure.retryAfter);
      for (const [name, value] of Object.entries(dialect.headers?.(failure) ?? {})) response.setHeader(name, value);
      json(response, failure.status, dialect.failure(failure));
      entry.state = "ended";
    }

    /** Closes the connection without a single byte of a reply. */
    function reset(): void {
      entry.state = "ended";
      response.destroy();
    }

    async function give({ parts, end, tells }: Extract<Reply, { kind: "answer" }>): Promise<void> {
      const told = { ...question, ...tells };
      const stream = told.stream ? dialect.stream(told) : undefined;
      if (stream !== undefined) response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      const start = stream?.start() ?? "";
      if (start !== "") response.write(start);
      for await (const part of parts(gone.signal)) {
        if (!("noise" in part)) entry.answer.push(part);
        if (stream !== undefined) response.write("noise" in part ? NOISE : stream.part(part));
      }
      if (typeof end === "object") return broken(end, stream !== undefined);
      entry.state = "ended";
      if (end === "cut") return void response.destroy();
      if (end === "garbage") response.end('data: {"this is": not JSON\n\n\u0000\u0001 garbage\n\n');
      else if (stream !== undefined) response.end(stream.end(entry.answer));
      else json(response, 200, dialect.whole(told, entry.answer));
    }

    /** An answer that is not streamed has no middle. */
    function broken(failure: Failure, inStream: boolean): void {
      if (inStream) response.end(dialect.broken(failure));
      else fail(failure);
      entry.state = "ended";
    }
  }

  await listening(server, { port, host: "127.0.0.1" });
  if (control !== undefined) await listening(control, { path: socket });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    asked,
    bodies,
    async [Symbol.asyncDispose]() {
      for (const each of [server, control]) {
        each?.closeAllConnections();
        await new Promise<void>((resolve) => (each === undefined ? resolve() : each.close(() => resolve())));
      }
    },
  };
}

function listening(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, resolve);
  });
}

type Answer = { dialect: Dialect; question: Question; path: string; response: ServerResponse };

/** Replies to other requests of clients, and to questions of tests. */
function other(path: string, text: string, asked: Asked[], bodies: unknown[]): [status: number, body: unknown] {
  if (path === "/requests") return [200, { open: asked.filter(({ state }) => state === "open").length, requests: asked }];
  if (path === "/bodies") return [200, bodies];
  if (path === "/") return [200, { name: "scripted model" }];
  if (path.endsWith("/models"))
    return [200, { object: "list", data: [{ id: "scripted", object: "model", owned_by: "holdfast" }], models: [] }];
  if (path.endsWith("/count_tokens")) return [200, { input_tokens: tokensAsked(anthropic.read(record(parse(text)), path)) }];
  if (path.endsWith(":countTokens")) return [200, { totalTokens: tokensAsked(gemini.read(record(parse(text)), path)) }];
  return [404, { error: { message: `the scripted model has no ${path}` } }];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return record(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  if (!response.headersSent) response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
