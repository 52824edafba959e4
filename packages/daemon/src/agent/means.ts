/** The means by which an agent can use Holdfast. */
import { isNamed, serverPrefix } from "@holdfast/contract/tool-names";
import { hasOwnServer, OWN_SERVER } from "./mcp.ts";
import type { Profile } from "./profile.ts";

export interface Means {
  /** True if it has that tool of Holdfast's server. */
  uses(tool: string): boolean;
  runsCommands: boolean;
}

/** The built-in agent's own tool for commands. */
const RUN_COMMAND = "run_command";

/** `tools`: the tools that its role allows. Only Holdfast's own model agent is restricted to them. */
export function meansOf(
  profile: Profile | undefined,
  { tools, ...where }: { isChat: boolean; directory: string; tools: readonly string[] | null },
): Means {
  const has = hasOwnServer(profile, where);
  const model = where.isChat && profile?.ours && "model" in profile.ours ? profile.ours.model : null;
  const choices = model === null ? [] : [model.tools, tools].filter((names) => names !== null);
  const isChosen = (tool: string) => choices.every((names) => names.some((name) => isNamed(tool, name)));
  return { uses: (tool) => has && isChosen(`${serverPrefix(OWN_SERVER)}${tool}`), runsCommands: isChosen(RUN_COMMAND) };
}
