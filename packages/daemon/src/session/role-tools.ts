import type { RoleTools, Session } from "@holdfast/contract";
import type { Profile } from "../agent/profile.ts";
import { enforcesTools } from "../agent/tool-limits.ts";
import { ruleIn, type Spec } from "./run/run-files.ts";

/** The tools of a session's role, and whether its agent enforces them; undefined if the role names none. */
export function roleToolsOf(spec: Spec | undefined, { kind, profile }: Pick<Session, "kind"> & { profile: Profile | undefined }) {
  const rule = spec && ruleIn(spec);
  if (rule === undefined) return undefined;
  const enforced = enforcesTools(profile, { isChat: kind === "conversation", args: spec?.asked?.args ?? [] });
  return { ...rule, enforced } satisfies RoleTools;
}
