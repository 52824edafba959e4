/** An MCP server with one tool that does nothing, as its SDK makes it. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "bare", version: "1" });
server.registerTool("nothing", { description: "does nothing" }, () => ({ content: [{ type: "text", text: "{}" }] }));
await server.connect(new StdioServerTransport());
