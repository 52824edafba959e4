/** A terminal over the daemon's TCP address, as a program with a token opens it: every byte it sends reaches the daemon unchanged. */
import { connect, type Socket } from "node:net";
import { type AttachPlan, BYTES, decodeMessage, encodeFrame, encodeMessage, FrameReader, type FromHolder } from "@holdfast/contract";
import { VERSION } from "@holdfast/contract/version";
import { eventually } from "./home.ts";

const SIZE = { columns: 100, rows: 30 };

export class WireTerminal implements Disposable {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly messages: FromHolder[] = [];
  #head = Buffer.alloc(0);
  #upgraded = false;
  #closed = false;
  shown = "";

  private constructor(url: string, { ref, token, query }: { ref: string; token: string; query: Record<string, string> }) {
    const { hostname, port, host } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket
      .on("error", () => {})
      .on("close", () => {
        this.#closed = true;
      });
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    const path = `/sessions/${encodeURIComponent(ref)}/terminal?${new URLSearchParams(query)}`;
    const head = [`GET ${path} HTTP/1.1`, `host: ${host}`, `holdfast-version: ${VERSION}`, "connection: upgrade", "upgrade: holdfast"];
    this.#socket.write(`${[...head, `authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n`);
  }

  /** Resolves when the daemon reports what it shows; throws its error otherwise. */
  static async open(url: string, options: { ref: string; token: string; readOnly?: boolean; take?: boolean }): Promise<WireTerminal> {
    const query = { ...(options.readOnly ? { readOnly: "true" } : {}), ...(options.take ? { take: "true" } : {}) };
    const terminal = new WireTerminal(url, { ...options, query });
    await eventually(() => terminal.plans.length > 0 || terminal.#closed);
    if (terminal.plans.length === 0) throw new Error(`not let in: ${terminal.#head}`);
    terminal.tell({ t: "view", v: 3, readOnly: options.readOnly ?? false, ...SIZE });
    return terminal;
  }

  /** The screens that the daemon reported, the last one at the end. */
  get plans(): AttachPlan[] {
    return this.messages.flatMap((message) => (message.t === "attached" ? [message.plan as AttachPlan] : []));
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /** Each in its own frame. */
  keys(...keys: string[]): void {
    for (const each of keys) this.#socket.write(encodeFrame(BYTES, Buffer.from(each, "latin1")));
  }

  tell(message: unknown): void {
    this.#socket.write(encodeMessage(message));
  }

  /** Waits until the text was shown. */
  async shows(text: string): Promise<void> {
    await eventually(() => this.shown.includes(text)).catch(() => {
      throw new Error(`the wire never showed ${text}; it showed ${JSON.stringify(this.shown.slice(-2000))}`);
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#upgraded) {
      this.#frames(chunk);
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf("\r\n\r\n");
    if (end < 0 || !this.#head.toString("latin1").startsWith("HTTP/1.1 101 ")) return;
    this.#upgraded = true;
    this.#frames(this.#head.subarray(end + 4));
  }

  #frames(chunk: Buffer): void {
    for (const { type, payload } of this.#reader.push(chunk)) {
      if (type === BYTES) this.shown += Buffer.from(payload).toString("utf8");
      else this.messages.push(decodeMessage(payload) as FromHolder);
    }
  }
}
