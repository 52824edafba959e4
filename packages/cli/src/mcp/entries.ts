/** Describes how to register Holdfast's MCP server with agents started elsewhere: the file and its syntax. */
import { join } from "node:path";
import { NO_TOKEN } from "./no-token.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Server {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface Place {
  /** The agent's configuration file of this user. */
  file(env: Environment): string;
  /** The key of its servers; the table in TOML. */
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
    // The agent expands the variable, so that in a Holdfast session the server acts as that session.
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
