/**
 * MCP servers for all agents, from config.toml:
 *
 *   [mcp.tickets]
 *   command = ["tickets-mcp", "--stdio"]
 *   env = { TICKETS_URL = "https://…" }
 *   agents = ["claude", "codex"]        # default: all agents that take servers
 *
 * Each agent gets them for one run, in addition to its own servers, in its own way (`mcp` in its profile). It also gets Holdfast's own server,
 * through which it acts as its session; `[mcp] holdfast = false` omits that.
 */
import { checkName, type KnownKeys, type Setting } from "@holdfast/contract";
import { WrongSetting } from "@holdfast/platform";

export interface McpServer {
  name: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Null: every agent that takes servers. */
  agents: readonly string[] | null;
  /** Holdfast's own server: each run starts it with the run's identity. */
  own?: true;
}

/** The environment of Holdfast's own server: the run, its daemon and its token. */
export type RunIdentity = Readonly<Record<string, string>>;

/** Input for adding servers. `file` is a path of the run that may be written if the agent needs a file. */
export interface McpPlace {
  servers: readonly McpServer[];
  file: string;
  env: Readonly<Record<string, string>>;
}

export interface McpGiven {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The content of the file. */
  content?: string;
}

/** The server's name in agents, which is part of its tools' names. */
export const OWN_SERVER = "holdfast";

export const MCP_KEYS = {
  command: {
    about: "The command that starts the server. It speaks MCP on its standard input and output.",
    takes: "a list of words",
    usual: null,
    example: 'command = ["tickets-mcp", "--stdio"]',
  },
  env: {
    about: "Environment variables for the server.",
    takes: "a table of texts",
    usual: "{}",
    example: 'env = { TICKETS_URL = "https://tickets.example" }',
  },
  agents: {
    about: "The agents that get the server. Without this key every agent gets it.",
    takes: "a list of agent names",
    usual: null,
    example: 'agents = ["claude", "codex"]',
  },
} as const satisfies KnownKeys;

export const OWN_SERVER_SETTING = {
  about: "Whether agents get the MCP server of Holdfast, through which they act as their session.",
  takes: "true or false",
  usual: "true",
  example: "holdfast = false",
} as const satisfies Setting;

/** Holdfast's own server, unless config.toml turns it off or has another of its name. `cli`: the words that run the CLI. */
export function ownServer(cli: readonly string[], table: unknown): McpServer[] {
  if (isTable(table) && table[OWN_SERVER] !== undefined && table[OWN_SERVER] !== true) return [];
  return [{ name: OWN_SERVER, command: [...cli, "mcp"], env: {}, agents: null, own: true }];
}

/** The format that most agents use. */
export function mcpServersJson(servers: readonly McpServer[]): string {
  const entry = ({ command: [command = "", ...args], env }: McpServer) => ({ command, args, env });
  return JSON.stringify({ mcpServers: Object.fromEntries(servers.map((server) => [server.name, entry(server)])) });
}

export function readServers({ table, file }: { table: unknown; file: string }): McpServer[] {
  if (table === undefined) return [];
  const wrong = (key: string, what: string, hint = 'for example: [mcp.tickets] command = ["tickets-mcp", "--stdio"]') =>
    new WrongSetting({ file, key, what, hint });
  if (!isTable(table)) throw wrong("mcp", "is not a table");
  return Object.entries(table).flatMap(([name, value]) => {
    if (name === OWN_SERVER && typeof value === "boolean") return [];
    checkName(name);
    const key = `mcp.${name}`;
    if (!isTable(value)) throw wrong(key, "is not a table");
    const { command, env = {}, agents = null } = value;
    if (!isWords(command) || command.length === 0) throw wrong(`${key}.command`, "is not a list of words");
    if (!isTable(env) || !isWords(Object.values(env))) throw wrong(`${key}.env`, "is not a table of texts");
    const strange = Object.keys(env).find((variable) => !/^[A-Za-z_]\w*$/.test(variable));
    if (strange !== undefined) throw wrong(`${key}.env`, `has ${JSON.stringify(strange)}, which is not a variable name`);
    if (agents !== null && !isWords(agents)) throw wrong(`${key}.agents`, "is not a list of agents", 'for example: agents = ["claude"]');
    return [{ name, command, env: env as Record<string, string>, agents }];
  });
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
