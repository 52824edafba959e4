/** The means by which an agent can use Holdfast. */
import { isNamed, serverPrefix } from "@holdfast/contract/agent/tool-names";
import { hasOwnServer } from "./give-servers.ts";
import { OWN_SERVER } from "./mcp.ts";
import type { Profile } from "./profile.ts";
import { enforcesTools } from "./tool-limits.ts";
import { permits, type ToolRule } from "./tool-rule.ts";

export interface Means {
  /** True if it has that tool of Holdfast's server. */
  uses(tool: string): boolean;
  runsCommands: boolean;
}

/** Names of the tool that runs commands: the built-in agent's, and Claude Code's, which most personas use. */
const RUN_COMMAND = ["run_command", "Bash"];

/** `rule`: the tools of its role, if it has one. */
export function meansOf(
  profile: Profile | undefined,
  { rule, ...where }: { isChat: boolean; directory: string; rule: ToolRule | undefined },
): Means {
  const has = hasOwnServer(profile, where);
  const model = where.isChat && profile?.ours && "model" in profile.ours ? profile.ours.model : null;
  const held = rule && enforcesTools(profile, { ...where, args: [] }) ? rule : undefined;
  const isChosen = (tool: string) =>
    (model?.tools?.some((name) => isNamed(tool, name)) ?? true) && (held === undefined || permits(held, tool));
  return { uses: (tool) => has && isChosen(`${serverPrefix(OWN_SERVER)}${tool}`), runsCommands: RUN_COMMAND.some(isChosen) };
}
