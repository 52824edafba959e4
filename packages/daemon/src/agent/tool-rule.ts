/** The tools of a role: which an agent may use. How an agent is held to them: tool-limits.ts. */
import type { RoleTools } from "@holdfast/contract";
import { isNamed } from "@holdfast/contract/agent/tool-names";

export type ToolRule = Omit<RoleTools, "enforced">;

export interface ToolLimits {
  /** Arguments for a run on a terminal, placed before the user's. */
  terminal?(rule: ToolRule): readonly string[];
  /** `_meta` of the protocol requests that open a conversation. */
  conversation?(rule: ToolRule): Readonly<Record<string, unknown>>;
  /** Arguments of the user that replace those of `terminal`. */
  overriddenBy?: RegExp;
  /** The programs, and their first versions, that accept a list of allowed tools. */
  since?: Record<"terminal" | "conversation", { program: string; version: string }>;
}

/** Undefined if nothing is restricted. */
export function toolRule({
  tools,
  disallowedTools = [],
}: {
  tools?: readonly string[] | undefined;
  disallowedTools?: readonly string[] | undefined;
}): ToolRule | undefined {
  if (tools === undefined && disallowedTools.length === 0) return undefined;
  return { allowed: tools === undefined ? null : [...tools], denied: [...disallowedTools] };
}

/** True if the rule permits the tool of that exact name. */
export function permits({ allowed, denied }: ToolRule, tool: string): boolean {
  const isIn = (names: readonly string[]) => names.some((name) => isNamed(tool, name));
  return (allowed === null || isIn(allowed)) && !isIn(denied);
}

/** A note for the person who starts the session; undefined if the agent enforces the rule as it is written. */
export function unenforcedNote(agent: string, { enforced, ...rule }: RoleTools): string | undefined {
  if (!enforced) return `${agent} does not enforce the tools of its role (${ruleText(rule)}); approvals decide what it may do`;
  const partial = (rule.allowed ?? []).filter((name) => name.includes("("));
  return partial.length === 0 ? undefined : `${agent} does not enforce the text in parentheses: ${partial.join(", ")}`;
}

function ruleText({ allowed, denied }: ToolRule): string {
  const only = allowed === null ? [] : [`only ${allowed.join(", ") || "none"}`];
  return [...only, ...(denied.length === 0 ? [] : [`not ${denied.join(", ")}`])].join("; ");
}
