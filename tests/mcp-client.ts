/** The MCP SDK's client, connected to Holdfast's server as an agent is. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { eventually, HOLDFAST, type TestHome } from "./home.ts";

export interface Called {
  isError: boolean;
  text: string;
  /** The result as data. */
  value: Record<string, never> & { [key: string]: unknown };
}

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: Progress) => void;
}

export class McpClient implements AsyncDisposable {
  readonly client: Client;
  readonly pid: number | null;

  private constructor(client: Client, pid: number | null) {
    this.client = client;
    this.pid = pid;
  }

  /** Starts `holdfast mcp` as agents do; a token makes it act as that session. */
  static async stdio(home: TestHome, { token, cwd }: { token?: string; cwd?: string } = {}): Promise<McpClient> {
    const env = { ...home.env, ...(token === undefined ? {} : { HOLDFAST_TOKEN: token }) };
    const transport = new StdioClientTransport({ command: HOLDFAST, args: ["mcp"], env, cwd: cwd ?? home.root, stderr: "inherit" });
    return McpClient.over(transport);
  }

  static async over(transport: StdioClientTransport): Promise<McpClient> {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    return new McpClient(client, transport.pid);
  }

  static async http(url: string, token: string): Promise<McpClient> {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit }) as never);
    return new McpClient(client, null);
  }

  async call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Called> {
    const result = await this.client.callTool({ name, arguments: args }, undefined, { timeout: 120_000, ...options });
    const [content] = result.content as { type: string; text: string }[];
    return { isError: result.isError === true, text: content?.text ?? "", value: result.structuredContent as Called["value"] };
  }

  /** Makes a call that must succeed; returns its result. */
  async ok(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Called["value"]> {
    const { isError, text, value } = await this.call(name, args, options);
    if (isError) throw new Error(`${name}: ${text}`);
    return value;
  }

  /** Makes a call that must fail; returns its message. */
  async refused(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { isError, text } = await this.call(name, args);
    if (!isError) throw new Error(`${name} was done: ${text}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

/** The token of a session that runs a shell; valid while the shell runs. */
export async function sessionWithToken(home: TestHome, name: string, ...flags: string[]): Promise<{ id: string; token: string }> {
  const { id } = await home.run('echo "$HOLDFAST_TOKEN"; exec sleep 1000', "--name", name, ...flags);
  const token = await eventually(async () => /hfs_\S+/.exec(await home.ok(["logs", name, "--raw"]))?.[0]);
  return { id, token };
}
