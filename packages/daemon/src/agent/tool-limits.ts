/**
 * The tools of a role, and how an agent is held to them for one run. A profile without `tools` has no proven mechanism: its agent only reads the
 * names with its role.
 */
import { HoldfastError, type RoleTools } from "@holdfast/contract";
import { isNamed } from "@holdfast/contract/agent/tool-names";
import type { Profile } from "./profile.ts";
import { isNewer } from "./recorded.ts";
import { packagedVersion } from "./version.ts";

export type ToolRule = Omit<RoleTools, "enforced">;

export interface ToolLimits {
  /** Arguments for a run on a terminal, placed before the user's. */
  terminal?(rule: ToolRule): readonly string[];
  /** `_meta` of the protocol requests that open a conversation. */
  conversation?(rule: ToolRule): Readonly<Record<string, unknown>>;
  /** Arguments of the user that replace those of `terminal`. */
  overriddenBy?: RegExp;
  /** The first versions, of the agent and of its adapter, that accept a list of allowed tools. */
  since?: { terminal: string; conversation: string };
}

type Run = { isChat: boolean; args: readonly string[] };

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

export function enforcesTools(profile: Profile | undefined, { isChat, args }: Run): boolean {
  if (profile?.ours) return isChat && "model" in profile.ours;
  const { terminal, conversation, overriddenBy } = profile?.tools ?? {};
  if (isChat) return conversation !== undefined;
  return terminal !== undefined && !args.some((word) => overriddenBy?.test(word));
}

/** The kinds of session in which the agent enforces tools. */
export function enforcedIn(profile: Profile | undefined): ("terminal" | "conversation")[] {
  return (["terminal", "conversation"] as const).filter((kind) => enforcesTools(profile, { isChat: kind === "conversation", args: [] }));
}

export function toolWords(profile: Profile | undefined, { rule, args }: { rule: ToolRule | undefined; args: readonly string[] }): string[] {
  if (rule === undefined || !enforcesTools(profile, { isChat: false, args })) return [];
  return [...(profile?.tools?.terminal?.(rule) ?? [])];
}

/**
 * Refuses an agent that would end with an error because it does not know the mechanism. Checks programs from npm only: their version is in a file,
 * and npm chooses an old version where Node is too old for the newest. `path`: the agent, or its adapter for a conversation.
 */
export function checkToolsVersion(
  profile: Profile,
  { rule, isChat, args, path }: Run & { rule: ToolRule | undefined; path: string | undefined },
): void {
  const since = profile.tools?.since?.[isChat ? "conversation" : "terminal"];
  if (since === undefined || path === undefined || (rule?.allowed ?? null) === null || !enforcesTools(profile, { isChat, args })) return;
  const version = packagedVersion(path);
  if (version === undefined || !isNewer(since, version)) return;
  const update = (isChat ? profile.setup?.adapter : undefined) ?? profile.setup?.install;
  throw new HoldfastError(
    "agent_too_old",
    `${isChat ? "the adapter of " : ""}${profile.description} ${version} cannot enforce the tools of a role; it needs ${since} or newer`,
    update === undefined ? {} : { hint: `update Node to 22 or newer, then run: ${update}@latest` },
  );
}

export function toolMeta(profile: Profile | undefined, rule: ToolRule | undefined): Readonly<Record<string, unknown>> | undefined {
  return rule && profile?.tools?.conversation?.(rule);
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
