/**
 * The MCP servers of a conversation. They start when it opens, in parallel with everything else; the first turn waits for them for a limited time, and
 * tools of a late server are offered from then on. A server without a selected tool is not started.
 *
 * A server cannot fail a turn. Its problems are notices, and a call of a missing server returns an error to the model. A dead server is started again
 * with the next turn. All servers end with the conversation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Notice } from "../../notices.ts";
import type { AgentTool } from "../tools/tool.ts";
import type { ServerOrder } from "./mcp-client.ts";
import { Server } from "./server.ts";
import { serverTool } from "./server-tool.ts";

/** How long after a server's start a turn waits for it. */
const WAIT_MS = 30_000;

/** Limit for a server's own instructions, which are sent with every request. */
const MOST_INSTRUCTIONS = 2000;

export class Servers implements AsyncDisposable {
  readonly #servers: readonly Server[];
  readonly #waitMs: number;
  /** Servers whose delay was already reported. */
  readonly #late = new Set<Server>();

  constructor(orders: readonly ServerOrder[], { waitMs = WAIT_MS }: { waitMs?: number } = {}) {
    this.#servers = orders.map((order) => new Server(order));
    this.#waitMs = waitMs;
  }

  start(): void {
    for (const server of this.#servers) server.start();
  }

  /** Called before each turn: waits until all servers are ready or their wait is over. */
  async ready(signal: AbortSignal): Promise<void> {
    for (const server of this.#servers) server.revive();
    const over = new AbortController();
    const ending = AbortSignal.any([signal, over.signal]);
    const waits = this.#servers.map((server) => {
      const { done, withinMs } = server.settled(this.#waitMs);
      return Promise.race([done, sleep(withinMs, undefined, { signal: ending }).catch(() => {})]);
    });
    await Promise.all(waits);
    over.abort();
  }

  /** Notices since the last call. */
  takeNotices(): Notice[] {
    const late = this.#servers.filter((server) => server.isStarting && !this.#late.has(server));
    for (const server of late) this.#late.add(server);
    return [...this.#servers.flatMap((server) => server.takeNotices()), ...late.map(({ name }) => notYet(name))];
  }

  /** The tools of all servers that are or were running. */
  tools(): AgentTool[] {
    const taken = new Set<string>();
    return this.#servers.flatMap((server) => server.tools.map((tool) => serverTool(server, tool, taken)));
  }

  get names(): string[] {
    return this.#servers.map(({ name }) => name);
  }

  /** The instructions of the named servers. */
  instructions(names: ReadonlySet<string>): string[] {
    return this.#servers.flatMap(({ name, instructions }) =>
      instructions === "" || !names.has(name) ? [] : [`${name}: ${instructions.slice(0, MOST_INSTRUCTIONS)}`],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }
}

function notYet(name: string): Notice {
  return {
    about: "tools",
    severity: "warning",
    title: `the MCP server ${name} is not ready yet`,
    description: "The turn continues without its tools until it is.",
  };
}
