import { readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Benchmark, compared, inTurns, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const BARE = [process.execPath, path.join(import.meta.dirname, "rig/bare-mcp.mjs")];

/** The MCP SDK's client with its own server. */
class Connected implements AsyncDisposable {
  readonly #client: Client;
  readonly #transport: StdioClientTransport;

  private constructor(client: Client, transport: StdioClientTransport) {
    this.#client = client;
    this.#transport = transport;
  }

  static async open([command = "", ...args]: readonly string[], env: Record<string, string>): Promise<Connected> {
    const transport = new StdioClientTransport({ command, args, env });
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(transport);
    return new Connected(client, transport);
  }

  tools = () => this.#client.listTools();

  async call(name: string, args: Record<string, unknown> = {}): Promise<number> {
    const began = performance.now();
    const { isError } = await this.#client.callTool({ name, arguments: args });
    if (isError) throw new Error(`${name} failed`);
    return performance.now() - began;
  }

  /** Resident, in MB. */
  memory(): number {
    const [, kilobytes = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.#transport.pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}

export const mcpCall: Benchmark = {
  name: "mcp-call",
  measures:
    "Time of a tool call by the MCP SDK's client over stdio: `get_shared_context` and `share_context` of a group, each with its round trip to the daemon.",
  baseline: "the same client on a bare server of the SDK with a tool that does nothing",
  budget: "p50 + 2 ms for reading",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    await home.ok(["group", "create", "team"]);
    await using ours = await Connected.open([home.program, "mcp"], home.env);
    await using bare = await Connected.open(BARE, home.env);
    const key = { group: "team", key: "port" };
    const write = () => ours.call("share_context", { ...key, value: 3000 });
    const read = () => ours.call("get_shared_context", key);
    const empty = () => bare.call("empty");
    for (let warm = 0; warm < 50; warm++) for (const each of [write, read, empty]) await each();
    const times = await inTurns(scale.rounds(500), { write, read, empty });
    const baseline = { name: "bare server", values: times.empty };
    const more = times.read.map((ms, round) => ms - (times.empty[round] ?? 0));
    return [
      { what: "more than the bare server, reading", unit: "ms", subject: spread(more), limit: { of: "subject", atMost: 2 } } satisfies Row,
      compared({ what: "reading", unit: "ms" }, times.read, baseline),
      compared({ what: "writing", unit: "ms" }, times.write, baseline),
    ];
  },
};

export const mcpStart: Benchmark = {
  name: "mcp-start",
  measures: "Time from starting `holdfast mcp` until its tools are listed, and its memory at that time. Each agent has one.",
  baseline: "a bare server of the SDK",
  budget: "none",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    const memory: Record<"ours" | "bare", number[]> = { ours: [], bare: [] };
    const start = (who: "ours" | "bare", command: readonly string[]) => async () => {
      const began = performance.now();
      await using server = await Connected.open(command, home.env);
      await server.tools();
      const took = performance.now() - began;
      memory[who].push(server.memory());
      return took;
    };
    const ours = start("ours", [process.execPath, path.join(path.dirname(home.program), "../dist/holdfast.cjs"), "mcp"]);
    const times = await inTurns(scale.rounds(20), { ours, bare: start("bare", BARE) });
    return [
      compared({ what: "until its tools are listed", unit: "ms" }, times.ours, { name: "bare server", values: times.bare }),
      compared({ what: "memory", unit: "MB" }, memory.ours, { name: "bare server", values: memory.bare }),
    ];
  },
};
