export type AgentName = "claude" | "codex" | "gemini" | "opencode" | "qwen";
/** What speaks the Agent Client Protocol for those that do not themselves. */
export type AdapterName = "claude-acp" | "codex-acp";
/** What is tried with agents' tools. */
export type ProgramName = "mcp-inspector";
export const AGENTS: Record<
  AgentName | AdapterName | ProgramName,
  { package: string; version: string; bin: string; after?: string; executables?: string[] }
>;
export function programOf(agent: AgentName | AdapterName | ProgramName): string;
export function installAgent(agent: AgentName | AdapterName | ProgramName): Promise<string>;
