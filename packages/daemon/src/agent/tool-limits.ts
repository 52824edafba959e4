/**
 * How an agent is held to the tools of a role for one run. A profile without `tools` has no proven mechanism: its agent only reads the names with its
 * role.
 */
import { HoldfastError } from "@holdfast/contract";
import type { Profile } from "./profile.ts";
import { isNewer } from "./recorded.ts";
import type { ToolRule } from "./tool-rule.ts";
import { packagedVersion } from "./version.ts";

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
  // Another program in its place, such as a wrapper of the user's, has versions of its own.
  const version = packagedVersion(path, since.program);
  if (version === undefined || !isNewer(since.version, version)) return;
  const update = (isChat ? profile.setup?.adapter : undefined) ?? profile.setup?.install;
  throw new HoldfastError(
    "agent_too_old",
    `${isChat ? "the adapter of " : ""}${profile.description} ${version} cannot enforce the tools of a role; it needs ${since.version} or newer`,
    update === undefined ? {} : { hint: `update Node to 22 or newer, then run: ${update}@latest` },
  );
}

export function toolMeta(profile: Profile | undefined, rule: ToolRule | undefined): Readonly<Record<string, unknown>> | undefined {
  return rule && profile?.tools?.conversation?.(rule);
}
