/** An MCP server with one tool that does nothing: the minimum that the SDK allows. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
const tool = { name: "empty", description: "Does nothing.", inputSchema: { type: "object", properties: {} } };
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [tool] }));
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: "text", text: "{}" }] }));
await server.connect(new StdioServerTransport());
process.stdin.once("end", () => server.close());
