import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Benchmark, compared, inTurns, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

export const mcpCall: Benchmark = {
  name: "mcp-call",
  measures:
    "A call of the tool `list_groups` of `holdfast mcp` over standard input and output, by the MCP SDK's client: from the call until its result is there.",
  baseline: "a bare server of the MCP SDK with a tool that does nothing, by the same client",
  budget: "+ 2 ms, median",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    await using holdfast = await Caller.start(home, { command: home.program, args: ["mcp"], tool: "list_groups" });
    const script = path.join(import.meta.dirname, "rig/bare-mcp.ts");
    await using bare = await Caller.start(home, { command: process.execPath, args: [script], tool: "nothing" });
    // What both do for the first time is no part of it.
    await Promise.all([holdfast.call(), bare.call()]);
    const { subject, baseline } = await inTurns(scale.rounds(300), { subject: () => holdfast.call(), baseline: () => bare.call() });
    const more = subject.map((value, round) => value - (baseline[round] ?? Number.NaN));
    return [
      compared({ what: "call to result", unit: "ms" }, subject, { name: "a bare server", values: baseline }),
      { what: "what that is more", unit: "ms", subject: spread(more), limit: { of: "subject", atMost: 2 } },
    ];
  },
};

class Caller implements AsyncDisposable {
  readonly #client = new Client({ name: "bench", version: "1" });
  readonly #tool: string;

  private constructor(tool: string) {
    this.#tool = tool;
  }

  static async start(home: BenchHome, { command, args, tool }: { command: string; args: string[]; tool: string }): Promise<Caller> {
    const caller = new Caller(tool);
    await caller.#client.connect(new StdioClientTransport({ command, args, env: home.env, cwd: home.root }));
    return caller;
  }

  async call(): Promise<number> {
    const began = performance.now();
    const { isError, content } = await this.#client.callTool({ name: this.#tool, arguments: {} });
    const took = performance.now() - began;
    if (isError) throw new Error(JSON.stringify(content));
    return took;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
