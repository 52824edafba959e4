import type { Personas } from "../persona/personas.ts";
import type { Handlers } from "./bind.ts";

export type PersonaHandlers = Pick<Handlers, "listPersonas" | "getPersona">;

export function personaHandlers(personas: Personas): PersonaHandlers {
  return {
    listPersonas: ({ query }) => personas.list(query),
    getPersona: ({ params, query }) => personas.find(params.name, query),
  };
}
