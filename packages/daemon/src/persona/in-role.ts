import { HoldfastError, type Persona, type SpawnRequest } from "@holdfast/contract";
import { findProgram } from "@holdfast/platform";
import type { Personas } from "./personas.ts";

/** Completes a request with the settings of its persona. The request's own settings win. */
export async function inRole(personas: Personas, request: SpawnRequest): Promise<SpawnRequest> {
  if (request.persona === undefined) return request;
  const persona = await personas.find(request.persona, { cwd: request.cwd, home: request.env.HOME });
  const agent = request.agent === "" ? (persona.agent ?? ownAgentOf(persona, request)) : request.agent;
  if (agent === null) {
    throw new HoldfastError("usage", `the persona ${persona.name} is for any agent: say which`, {
      hint: `for example: holdfast chat demo --persona ${persona.name}; holdfast agents lists them; or write agent: into its file`,
    });
  }
  // Names of models and tools belong to the persona's agent; another agent would not know them.
  const isMeant = persona.agent === null || persona.agent === agent;
  const model = request.model ?? (isMeant ? persona.model : null) ?? undefined;
  const restricted = request.tools ?? (isMeant ? persona.tools : null) ?? undefined;
  const tools = persona.tools === null ? "" : `\n\nUse only these tools: ${persona.tools.join(", ") || "none"}.`;
  const instructions = request.instructions ?? `${persona.instructions}${tools}`.trim();
  return {
    ...request,
    agent,
    role: request.role ?? persona.name,
    ...(model === undefined || !request.chat ? {} : { model }),
    ...(restricted === undefined || !request.chat ? {} : { tools: restricted }),
    ...(instructions === "" ? {} : { instructions }),
  };
}

/** A persona from Claude Code's directories is for Claude Code if that is installed; otherwise for any agent. */
function ownAgentOf({ source }: Persona, { env, cwd }: SpawnRequest): string | null {
  const isClaudes = source === "claude_project" || source === "claude_user";
  return isClaudes && findProgram("claude", env.PATH, cwd) !== undefined ? "claude" : null;
}
