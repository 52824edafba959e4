/** How agents that were started elsewhere are told of Holdfast's server: in which file of theirs, and in which words. */
import { join } from "node:path";
import type { Server } from "./install.ts";
import { NO_TOKEN } from "./no-token.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Place {
  /** The agent's own configuration of this user. */
  file(env: Environment): string;
  /** The keys under which its servers are; of TOML the table. */
  under: string;
  format: "json" | "toml";
  entry(server: Server): Record<string, unknown>;
}

const usual = ({ command, args, env }: Server) => ({ command, args, ...(Object.keys(env).length === 0 ? {} : { env }) });
const home = (env: Environment) => env.HOME ?? "";

export const PLACES: Readonly<Record<string, Place>> = {
  claude: {
    file: (env) => join(env.CLAUDE_CONFIG_DIR || home(env), ".claude.json"),
    under: "mcpServers",
    format: "json",
    entry: (server) => ({ type: "stdio", ...usual(server) }),
  },
  codex: {
    file: (env) => join(env.CODEX_HOME || join(home(env), ".codex"), "config.toml"),
    under: "mcp_servers",
    format: "toml",
    entry: usual,
  },
  gemini: {
    file: (env) => join(env.GEMINI_CLI_HOME || home(env), ".gemini/settings.json"),
    under: "mcpServers",
    format: "json",
    // It puts in what the variable has, so that in a session of ours the server acts as that.
    entry: (server) => usual({ ...server, env: { ...server.env, HOLDFAST_TOKEN: `\${HOLDFAST_TOKEN:-${NO_TOKEN}}` } }),
  },
  qwen: {
    file: (env) => join(env.QWEN_HOME || join(home(env), ".qwen"), "settings.json"),
    under: "mcpServers",
    format: "json",
    entry: usual,
  },
  opencode: {
    file: (env) => env.OPENCODE_CONFIG || join(env.XDG_CONFIG_HOME || join(home(env), ".config"), "opencode/opencode.json"),
    under: "mcp",
    format: "json",
    entry: ({ command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      ...(Object.keys(env).length === 0 ? {} : { environment: env }),
      enabled: true,
    }),
  },
  q: { file: (env) => join(home(env), ".aws/amazonq/mcp.json"), under: "mcpServers", format: "json", entry: usual },
};
