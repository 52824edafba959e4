export type AgentName = "claude" | "codex" | "gemini" | "opencode" | "qwen";
export const AGENTS: Record<AgentName, { package: string; version: string; bin: string; after?: string; executables?: string[] }>;
export function programOf(agent: AgentName): string;
export function installAgent(agent: AgentName): Promise<string>;
