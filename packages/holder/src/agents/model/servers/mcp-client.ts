/**
 * An MCP server on standard input and output, through the protocol's own client library. The library is large, so it is loaded only if there is a
 * server.
 *
 * Closing the link ends the program: its input ends, and signals follow if it ignores that. If this process dies, its input ends too.
 */
import { VERSION } from "@holdfast/contract/version";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  type Progress,
  type Tool,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { tailOf } from "../../command.ts";

export type { CallToolResult, Progress, Tool };

export interface ServerOrder {
  name: string;
  command: readonly string[];
  /** The complete environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
}

export interface LinkListener {
  /** The server has ended, for any reason. */
  onEnd(): void;
  onTools(tools: Tool[]): void;
}

const LAST_WORDS = 2000;

/** As long as a command may take. A person who does not want to wait cancels the turn. */
const LONGEST_CALL_MS = 3_600_000;

/** A server with more pages than a model can read probably repeats them without end. */
const MOST_PAGES = 50;

export class Link {
  readonly #client: Client;
  readonly #transport: StdioClientTransport;
  readonly #listener: LinkListener;
  readonly #words: () => string;

  constructor({ command: [command = "", ...args], env, cwd }: ServerOrder, listener: LinkListener) {
    this.#listener = listener;
    this.#transport = new StdioClientTransport({ command, args, env: { ...env }, cwd, stderr: "pipe" });
    const { stderr } = this.#transport;
    this.#words = stderr ? tailOf(stderr as import("node:stream").Readable, LAST_WORDS) : () => "";
    stderr?.on("data", (chunk: Buffer) => process.stderr.write(chunk));
    // The model reads the server's result, so it is not validated against a schema.
    this.#client = new Client({ name: "holdfast", version: VERSION }, { jsonSchemaValidator: { getValidator: () => unchecked } });
    this.#client.onclose = () => listener.onEnd();
  }

  /** The end of its standard error output. */
  get lastWords(): string {
    return this.#words();
  }

  async connect(timeout: number): Promise<{ tools: Tool[]; instructions: string }> {
    await this.#client.connect(this.#transport, { timeout });
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, async () => this.#listener.onTools(await this.#list(timeout)));
    return { tools: await this.#list(timeout), instructions: this.#client.getInstructions() ?? "" };
  }

  async call(
    { name, input }: { name: string; input: unknown },
    { signal, onProgress }: { signal: AbortSignal; onProgress(progress: Progress): void },
  ): Promise<CallToolResult> {
    const params = { name, arguments: input as Record<string, unknown> };
    const options = { signal, timeout: LONGEST_CALL_MS, onprogress: onProgress };
    return this.#client.request({ method: "tools/call", params }, CallToolResultSchema, options);
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#transport.close();
  }

  async #list(timeout: number): Promise<Tool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const tools: Tool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools: some, nextCursor } = await this.#client.request({ method: "tools/list", params }, ListToolsResultSchema, { timeout });
      tools.push(...some);
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  }
}

const unchecked = (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined });
