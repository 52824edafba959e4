import type { HoldfastClient } from "@holdfast/sdk/client";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createServer } from "./server.ts";

/** Serves the agent that started this process, over standard input and output, until the input ends. */
export async function serveStdio(client: HoldfastClient): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  const server = createServer(client, { cwd: process.cwd(), env, umask: process.umask() });
  const gone = new Promise<void>((resolve) => {
    process.stdin
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
    process.stdout.once("error", () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await gone;
  await server.close();
}
