export type AgentName = "claude" | "codex" | "gemini" | "opencode" | "qwen";
/** Adapters for agents that do not speak the Agent Client Protocol themselves. */
export type AdapterName = "claude-acp" | "codex-acp";
/** A program that tests the agents' tools. */
export type ProgramName = "mcp-inspector";
export const AGENTS: Record<
  AgentName | AdapterName | ProgramName,
  { package: string; version: string; bin: string; after?: string; executables?: string[] }
>;
export function programOf(agent: AgentName | AdapterName | ProgramName): string;
export function installAgent(agent: AgentName | AdapterName | ProgramName): Promise<string>;
