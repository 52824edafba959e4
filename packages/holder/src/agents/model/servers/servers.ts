/**
 * The servers of the Model Context Protocol that a conversation has. They are started when it opens, beside everything else; its first turn waits for them, but
 * not for ever: what comes later is offered to the model from then on. One of which no tool is wanted is not started.
 *
 * None of them can make a turn fail. What is wrong with one is a notice; what was to be called of it answers that it is not there. One that has died is
 * started again with the next turn. They end with the conversation: `close`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Notice } from "../../notices.ts";
import type { AgentTool } from "../tools/tool.ts";
import type { ServerOrder } from "./mcp-client.ts";
import { Server } from "./server.ts";
import { serverTool } from "./server-tool.ts";

/** So long after its start a turn waits for a server. */
const WAIT_MS = 30_000;

/** As much of what a server says of itself goes to the model with everything that is asked. */
const MOST_INSTRUCTIONS = 2000;

export class Servers implements AsyncDisposable {
  readonly #servers: readonly Server[];
  readonly #waitMs: number;
  /** Those of which was said that they are late. */
  readonly #late = new Set<Server>();

  constructor(orders: readonly ServerOrder[], { waitMs = WAIT_MS }: { waitMs?: number } = {}) {
    this.#servers = orders.map((order) => new Server(order));
    this.#waitMs = waitMs;
  }

  start(): void {
    for (const server of this.#servers) server.start();
  }

  /** With each turn: until all are there, or are not to be waited for. */
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

  /** What there is to tell since it was asked last. */
  takeNotices(): Notice[] {
    const late = this.#servers.filter((server) => server.isStarting && !this.#late.has(server));
    for (const server of late) this.#late.add(server);
    return [...this.#servers.flatMap((server) => server.takeNotices()), ...late.map(({ name }) => notYet(name))];
  }

  /** Those of the servers that are there, and of those that were. */
  tools(): AgentTool[] {
    const taken = new Set<string>();
    return this.#servers.flatMap((server) => server.tools.map((tool) => serverTool(server, tool, taken)));
  }

  get names(): string[] {
    return this.#servers.map(({ name }) => name);
  }

  /** What those that are meant say of themselves. */
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
