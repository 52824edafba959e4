import { HoldfastError, type Persona, type SpawnRequest } from "@holdfast/contract";
import type { Personas } from "./personas.ts";

/** The arguments with which an agent on a terminal takes a model and a mode, except those that `args` contain already. */
export type ChoiceWords = (agent: string, choice: { model?: string; mode?: string; args: readonly string[] }) => string[];

/** Completes a request with the settings of its persona. The request's own settings win. */
export async function inRole(personas: Personas, request: SpawnRequest, choiceWords: ChoiceWords): Promise<SpawnRequest> {
  if (request.persona === undefined) return request;
  const persona = await personas.find(request.persona, { cwd: request.cwd, home: request.env.HOME });
  const agent = request.agent === "" ? persona.agent : request.agent;
  if (agent === null) {
    throw new HoldfastError("usage", `the persona ${persona.name} does not name an agent`, {
      hint: `for example: holdfast chat demo --persona ${persona.name}; holdfast agents lists them; or write agent: into its file`,
    });
  }
  const { tools = persona.tools ?? undefined, disallowedTools = persona.disallowedTools } = request;
  const instructions = request.instructions ?? `${persona.instructions}${toolsText(persona)}`.trim();
  return {
    ...request,
    agent,
    role: request.role ?? persona.name,
    ...chosen({ ...request, agent }, { persona, choiceWords }),
    ...(tools === undefined ? {} : { tools }),
    ...(disallowedTools.length === 0 ? {} : { disallowedTools }),
    ...(instructions === "" ? {} : { instructions }),
  };
}

/** Names of models and modes belong to the persona's agent; another agent would not know them. */
function chosen(
  request: SpawnRequest,
  { persona, choiceWords }: { persona: Persona; choiceWords: ChoiceWords },
): Pick<Partial<SpawnRequest>, "model" | "mode" | "args"> {
  const { agent, chat, args } = request;
  const isMeant = persona.agent === null || persona.agent === agent;
  const model = request.model ?? (isMeant ? persona.model : null);
  const mode = request.mode ?? (isMeant ? persona.permissionMode : null);
  const choice = { ...(model === null ? {} : { model }), ...(mode === null ? {} : { mode }) };
  return chat || request.command ? choice : { args: [...choiceWords(agent, { ...choice, args }), ...args] };
}

function toolsText({ tools, disallowedTools }: Persona): string {
  const only = tools === null ? "" : `\n\nUse only these tools: ${tools.join(", ") || "none"}.`;
  return disallowedTools.length === 0 ? only : `${only}\n\nDo not use these tools: ${disallowedTools.join(", ")}.`;
}
