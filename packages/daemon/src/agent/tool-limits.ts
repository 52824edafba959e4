/**
 * How an agent is held to the tools of a role for one run. A profile without `tools` has no proven mechanism: its agent only reads the names with its
 * role.
 */
import type { Profile } from "./profile.ts";
import type { ToolRule } from "./tool-rule.ts";

type Run = { isChat: boolean; args: readonly string[] };

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

export function toolMeta(profile: Profile | undefined, rule: ToolRule | undefined): Readonly<Record<string, unknown>> | undefined {
  return rule && profile?.tools?.conversation?.(rule);
}
