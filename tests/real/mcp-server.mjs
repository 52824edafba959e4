/** An MCP server with one tool, for tests: writes each call and its caller to the given file. */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const log = process.argv[2] ?? "";
const TOOL = { name: "tide", description: "When the tide is high.", inputSchema: { type: "object", properties: {} } };

createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  appendFileSync(log, `${method} ${process.env.TIDES}\n`);
  if (id === undefined) return;
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion ?? "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "tides", version: "1" },
    },
    "tools/list": { tools: [TOOL] },
  };
  const known = Object.hasOwn(results, method);
  const answer = known ? { result: results[method] } : { error: { code: -32601, message: `there is no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
