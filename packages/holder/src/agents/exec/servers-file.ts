import type { McpServer } from "@agentclientprotocol/sdk";
import { writeFileAtomic } from "@holdfast/platform/files";

/** Writes the command's MCP servers in the common format. Readable only by the user, because it contains the run's token; deleted with the run. */
export function writeServers(file: string, servers: readonly McpServer[]): void {
  const entries = servers.flatMap((server) => {
    if (!("command" in server)) return [];
    const { name, command, args, env } = server;
    return [[name, { command, args, env: Object.fromEntries(env.map((each) => [each.name, each.value])) }]];
  });
  writeFileAtomic(file, `${JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2)}\n`);
}
