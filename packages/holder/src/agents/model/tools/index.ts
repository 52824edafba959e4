import { isNamed } from "@holdfast/contract/agent/tool-names";
import type { ToolKind } from "@holdfast/contract/conversation/enums";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { runCommand } from "./run-command.ts";
import { searchFiles } from "./search-files.ts";
import type { AgentTool } from "./tool.ts";
import { editFile, writeFile } from "./write-file.ts";

export const TOOLS: readonly AgentTool[] = [readFile, listFiles, searchFiles, editFile, writeFile, runCommand];

/** The names that definitions for other agents use for these tools. */
const ALIASES: Record<string, readonly string[]> = {
  Read: ["read_file"],
  Glob: ["list_files"],
  LS: ["list_files"],
  Grep: ["search_files"],
  Edit: ["edit_file"],
  MultiEdit: ["edit_file"],
  Write: ["write_file"],
  Bash: ["run_command"],
};

/** Selects tools by name, and returns the unknown names. */
export function toolsNamed(
  names: readonly string[] | null,
  among: readonly AgentTool[] = TOOLS,
): { tools: readonly AgentTool[]; unknown: string[] } {
  if (names === null) return { tools: among, unknown: [] };
  const meant = names.map((name) => ({
    name,
    tools: among.filter((tool) => (ALIASES[name] ?? [name]).some((each) => isNamed(tool.name, each))),
  }));
  const chosen = new Set(meant.flatMap(({ tools }) => tools));
  return {
    tools: among.filter((tool) => chosen.has(tool)),
    unknown: meant.flatMap(({ name, tools }) => (tools.length === 0 ? [name] : [])),
  };
}

/** The built-in tool for a call in a transcript, recognized by its kind and input. */
export function toolFor(kind: ToolKind, input: unknown): AgentTool | undefined {
  return TOOLS.find((tool) => tool.kind === kind && tool.input.safeParse(input).success);
}
