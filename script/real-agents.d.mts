export type AgentName = "claude" | "codex" | "gemini" | "opencode" | "qwen";
/** What speaks the Agent Client Protocol for those that do not themselves. */
export type AdapterName = "claude-acp" | "codex-acp";
export const AGENTS: Record<
  AgentName | AdapterName,
  { package: string; version: string; bin: string; after?: string; executables?: string[] }
>;
export function programOf(agent: AgentName | AdapterName): string;
export function installAgent(agent: AgentName | AdapterName): Promise<string>;
