/**
 * JSON-RPC over the lines of a pipe, as in the Agent Client Protocol. Handwritten, using only the SDK's types: its schemas would take ten of the
 * sixty megabytes that a keeper may have, and most of the time of an update in a keeper without a compiler (ADR 16). Messages are therefore
 * not validated: each is handled inside a try, and an invalid one is answered with an error.
 */
import type { Readable, Writable } from "node:stream";

/** A longer message is a defect, or not part of the protocol. */
const LONGEST = 64 * 1024 * 1024;
const NEWLINE = 10;
const MOST_PARTS = 16_384;

const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;

export interface Peer {
  onRequest(method: string, params: unknown): unknown;
  onNotification(method: string, params: unknown): void;
  /** Called for a line that is not a message, and for a message that could not be handled. */
  onNonsense(error: unknown): void;
}

/** An error response of the other side. */
export class PeerError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: { code?: unknown; message?: unknown; data?: unknown }) {
    super(typeof message === "string" ? message : "the agent answered with an error");
    this.code = typeof code === "number" ? code : INTERNAL;
    this.data = data;
  }
}

/** The method does not exist here. */
export class UnknownMethod extends Error {}

type Message = { id?: unknown; method?: unknown; params?: unknown; result?: unknown; error?: unknown };

export class Connection {
  readonly #output: Writable;
  readonly #peer: Peer;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #parts: Buffer[] = [];
  #size = 0;
  #id = 0;
  /** The other side has closed its end. */
  closed = false;

  constructor(options: { input: Readable; output: Writable; peer: Peer }) {
    this.#output = options.output;
    this.#peer = options.peer;
    options.input.on("data", (chunk: Buffer) => this.#push(chunk));
    options.input.on("close", () => this.#close());
    // An agent that has ended no longer reads.
    options.output.on("error", () => {});
  }

  /** `onResult` is called before anything after the result is handled. */
  request<R>(method: string, params: unknown, onResult?: () => void): Promise<R> {
    if (this.closed) return Promise.reject(gone());
    const id = ++this.#id;
    this.#write({ id, method, params });
    return new Promise((resolve, reject) => {
      const done = (result: unknown) => {
        onResult?.();
        resolve(result as R);
      };
      this.#waiting.set(id, { resolve: done, reject });
    });
  }

  notify(method: string, params: unknown): void {
    this.#write({ method, params });
  }

  #write(message: object): void {
    if (!this.closed) this.#output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #push(chunk: Buffer): void {
    let from = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, from)) {
      this.#parts.push(chunk.subarray(from, newline));
      const line = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#size = 0;
      from = newline + 1;
      this.#take(line.toString("utf8").trim());
    }
    if (from === chunk.length) return;
    this.#parts.push(chunk.subarray(from));
    this.#size += chunk.length - from;
    // For an agent that writes single bytes, each part would cost a hundred times its size.
    if (this.#parts.length > MOST_PARTS) this.#parts = [Buffer.concat(this.#parts)];
    if (this.#size <= LONGEST) return;
    this.#peer.onNonsense(new Error(`a message of more than ${LONGEST} bytes`));
    this.#parts = [];
    this.#size = 0;
  }

  #take(line: string): void {
    if (line === "") return;
    try {
      const message = JSON.parse(line) as Message | null;
      if (typeof message !== "object" || message === null) throw new Error(`not a message: ${line.slice(0, 200)}`);
      if (typeof message.method === "string") this.#hear(message.method, message);
      else this.#answered(message);
    } catch (error) {
      this.#peer.onNonsense(error);
    }
  }

  #hear(method: string, { id, params }: Message): void {
    if (id === undefined || id === null) this.#peer.onNotification(method, params);
    else void this.#reply(id, method, params);
  }

  async #reply(id: unknown, method: string, params: unknown): Promise<void> {
    try {
      this.#write({ id, result: (await this.#peer.onRequest(method, params)) ?? {} });
    } catch (error) {
      const code = error instanceof UnknownMethod ? METHOD_NOT_FOUND : INTERNAL;
      this.#write({ id, error: { code, message: (error as Error).message } });
    }
  }

  #answered({ id, result, error }: Message): void {
    const waiting = this.#waiting.get(id as number);
    this.#waiting.delete(id as number);
    if (error === undefined || error === null) waiting?.resolve(result);
    else waiting?.reject(new PeerError(error as object));
  }

  #close(): void {
    this.closed = true;
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
  }
}

function gone(): Error {
  return new Error("the agent closed the connection");
}
