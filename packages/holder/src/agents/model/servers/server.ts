/** One MCP server of a conversation: starting, running or gone. Its problems are reported by notices and never fail a turn. */
import type { Notice } from "../../notices.ts";
import type { Link, Progress, ServerOrder, Tool } from "./mcp-client.ts";
import { textOfResult } from "./result.ts";

/** Time limit for a start: some servers are downloaded first. */
const START_MS = 120_000;

/** A protocol error contains the whole message, which may be long. */
const LONGEST_REASON = 300;

export interface Used {
  text: string;
  ok: boolean;
}

export class Server {
  readonly name: string;
  readonly #order: ServerOrder;
  #state: "starting" | "there" | "gone" = "gone";
  #link: Link | undefined;
  #closed = false;
  #tools: readonly Tool[] = [];
  #instructions = "";
  #untold: Notice[] = [];
  /** The time of the start by performance.now(), and the end of that start. */
  #began = 0;
  #settled: Promise<void> = Promise.resolve();

  constructor(order: ServerOrder) {
    this.name = order.name;
    this.#order = order;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get instructions(): string {
    return this.#instructions;
  }

  get isStarting(): boolean {
    return this.#state === "starting";
  }

  /** `done` resolves once the start has succeeded or failed; `withinMs` is the rest of the wait, which ends `after` ms after the start. */
  settled(after: number): { done: Promise<void>; withinMs: number } {
    return { done: this.#settled, withinMs: Math.max(0, this.#began + after - performance.now()) };
  }

  start(): void {
    this.#state = "starting";
    this.#began = performance.now();
    this.#settled = this.#open();
  }

  /** Starts the server again if it was running and has died. A server that could not be started is left alone. */
  revive(): void {
    if (this.#state === "gone" && this.#link !== undefined && !this.#closed) this.start();
  }

  takeNotices(): Notice[] {
    return this.#untold.splice(0);
  }

  async call(
    what: { name: string; input: unknown },
    { signal, onProgress }: { signal: AbortSignal; onProgress(progress: Progress): void },
  ): Promise<Used> {
    const link = this.#link;
    if (this.#state !== "there" || link === undefined) return { text: `the server ${this.name} is not running`, ok: false };
    try {
      return textOfResult(await link.call(what, { signal, onProgress }));
    } catch (error) {
      if (signal.aborted) return { text: "[cancelled]", ok: false };
      // The end of its output is noticed before the end of its process.
      return { text: this.#isGone(link) ? `the server ${this.name} ended before it answered` : wordsOf(error), ok: false };
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#link?.close();
    await this.#settled;
  }

  async #open(): Promise<void> {
    let link: Link | undefined;
    try {
      const { Link: Opened } = await import("./mcp-client.ts");
      if (this.#closed) return;
      const opened: Link = new Opened(this.#order, {
        onEnd: () => this.#ended(opened),
        onTools: (tools) => {
          this.#tools = tools;
        },
      });
      link = opened;
      this.#link = opened;
      const { tools, instructions } = await opened.connect(START_MS);
      this.#tools = tools;
      this.#instructions = instructions;
      this.#state = "there";
    } catch (error) {
      await link?.close();
      this.#link = undefined;
      this.#tools = [];
      this.#instructions = "";
      this.#gone(`could not be started: ${whyNot(error, this.#order)}`, link?.lastWords ?? "");
    }
  }

  #ended(link: Link): void {
    if (this.#state !== "there" || this.#link !== link) return;
    this.#gone("has ended", link.lastWords, "Calls of its tools fail; the next turn starts it again.");
  }

  #gone(how: string, lastWords: string, consequence = "Its tools are not available."): void {
    this.#state = "gone";
    if (this.#closed) return;
    const line = lastWords.trimEnd().split("\n").at(-1)?.trim() ?? "";
    const title = `the MCP server ${this.name} ${how}${line === "" ? "" : `: ${line}`}`;
    this.#untold.push({ about: "tools", severity: "warning", title, description: consequence });
  }

  #isGone(link: Link): boolean {
    return this.#state === "gone" || this.#link !== link;
  }
}

function whyNot(error: unknown, { command: [program = ""] }: ServerOrder): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return `the program ${program} does not exist`;
  if (/Connection closed/i.test(message)) return "it ended while starting";
  return message.length > LONGEST_REASON ? `${message.slice(0, LONGEST_REASON)}…` : message;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
