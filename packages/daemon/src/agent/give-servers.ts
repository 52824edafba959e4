/** Gives the MCP servers of mcp.ts to one run. */
import { join } from "node:path";
import { MCP_FILE } from "@holdfast/contract/agent/order";
import { writeFileAtomic } from "@holdfast/platform";
import { type McpServer, OWN_SERVER, type RunIdentity } from "./mcp.ts";
import { takesServer } from "./own-agent.ts";
import type { Profile } from "./profile.ts";

/** Returns additional arguments and variables for the run; none for an agent that takes no servers. */
export function giveServers(
  profile: Profile | undefined,
  run: { directory: string; env: Readonly<Record<string, string>>; identity?: RunIdentity | undefined },
): { args: readonly string[]; env: Readonly<Record<string, string>> } {
  const servers = serversOf(profile, run.identity);
  if (!profile?.mcp || servers.length === 0) return { args: [], env: {} };
  const file = join(run.directory, MCP_FILE);
  const { args = [], env = {}, content } = profile.mcp({ servers, file, env: run.env });
  if (content !== undefined) writeFileAtomic(file, content);
  return { args, env };
}

/** The servers for this agent. */
export function serversOf(profile: Profile | undefined, identity?: RunIdentity): McpServer[] {
  const meant = (profile?.servers ?? []).filter(({ agents }) => agents?.includes(profile?.name ?? "") ?? true);
  return meant.flatMap((server) => (server.own ? (identity ? [{ ...server, env: identity }] : []) : [server]));
}

/** The servers for a conversation. One of Holdfast's own programs gets Holdfast's server only if it uses it. */
export function serversInConversation(profile: Profile | undefined, identity: RunIdentity): McpServer[] {
  return serversOf(profile, profile?.ours && !takesServer(profile.ours, OWN_SERVER) ? undefined : identity);
}

/** True if the agent has Holdfast's tools. `directory`: the directory of its runs' files. */
export function hasOwnServer(profile: Profile | undefined, { isChat, directory }: { isChat: boolean; directory: string }): boolean {
  const inTerminal = () => profile?.mcp !== undefined && (profile.takesServersBelow?.(directory) ?? true);
  const takes = isChat ? !profile?.ours || takesServer(profile.ours, OWN_SERVER) : inTerminal();
  return takes && (profile?.servers ?? []).some(({ own }) => own);
}
