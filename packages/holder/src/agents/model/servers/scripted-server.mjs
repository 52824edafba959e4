/** An MCP server for tests: `node scripted-server.mjs LOG [HOW]` logs its messages, and answers as its tools are called. */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [log = "/dev/null", how = "well"] = process.argv.slice(2);
const note = (line) => appendFileSync(log, `${line}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words, more = {}) => ({ content: [{ type: "text", text: words }], ...more });

note(`started ${process.pid} ${process.env.TIDES}`);
if (how === "fails") {
  process.stderr.write("warming up\nthe tides are not to be had\n");
  process.exit(3);
}
if (how === "stubborn") process.on("SIGTERM", () => note("asked to end"));

const object = { type: "object", properties: { words: { type: "string" } } };
const tools = [
  { name: "echo", description: "Says it again.", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "write", description: "Writes it down.", inputSchema: object },
  { name: "erase", description: "Erases it.", inputSchema: object, annotations: { readOnlyHint: false } },
  { name: "slow", description: "Goes on for ever.", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "refuse", description: "Says no.", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "fail", description: "Fails.", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "die", description: "Dies.", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "grow", description: "Gets another tool.", inputSchema: object, annotations: { readOnlyHint: true } },
];
if (how === "odd") {
  const names = [`${"long.".repeat(20)}one`, `${"long.".repeat(20)}two`, "a.b", "a b", "a_b"];
  tools.push(...names.map((name) => ({ name, inputSchema: object, annotations: { readOnlyHint: true } })));
}
if (how === "large") tools[1].description = "It writes it down. ".repeat(3000);

const calls = {
  echo: ({ words }) => text(`${process.env.TIDES} ${words}`),
  write: ({ words }) => {
    note(`wrote ${words}`);
    return text("written");
  },
  erase: () => text("erased"),
  refuse: () => text("no, not that", { isError: true }),
  grow: () => {
    tools.push({ name: "grown", description: "It is new.", inputSchema: object, annotations: { readOnlyHint: true } });
    send({ method: "notifications/tools/list_changed" });
    return text("there is one more");
  },
};

createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") note("cancelled");
  if (id === undefined || how === "mute") return;
  if (method === "initialize") {
    const { protocolVersion } = params;
    const capabilities = { tools: { listChanged: true } };
    send({ id, result: { protocolVersion, capabilities, serverInfo: { name: "tides", version: "1" }, instructions: "Ask for the tide." } });
  } else if (method === "tools/list") {
    // In two pages, as for long lists.
    const second = params?.cursor === "2";
    send({ id, result: second ? { tools: tools.slice(2) } : { tools: tools.slice(0, 2), nextCursor: "2" } });
  } else if (method === "tools/call") {
    const { name, arguments: given, _meta } = params;
    note(`called ${name}`);
    if (name === "die") {
      process.stderr.write("I fell over\n");
      process.exit(1);
    }
    if (name === "slow") {
      send({ method: "notifications/progress", params: { progressToken: _meta?.progressToken, progress: 1, message: "half way" } });
      return;
    }
    const made = calls[name]?.(given);
    send(made ? { id, result: made } : { id, error: { code: -32602, message: `there is no ${name} to be had` } });
  } else send({ id, error: { code: -32601, message: `there is no ${method}` } });
});
// Ends with its input, except for the stubborn one.
process.stdin.on("end", () => (how === "stubborn" ? setInterval(() => {}, 1000) : process.exit(0)));
