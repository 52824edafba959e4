import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Persona, PersonaList } from "./persona.ts";

/** A directory of the project; `home` is the caller's home directory, if it is not the daemon's. */
const WHERE = z.object({ cwd: z.string().check(z.startsWith("/", "cwd must be an absolute path")), home: z.optional(z.string()) });

export const PERSONA_ENDPOINTS = {
  listPersonas: {
    ...ROUTES.listPersonas,
    answeredWithout: ["daemon"],
    summary: "The personas of a directory's project and of the user, by name, and the errors of invalid persona files.",
    // The caller chooses which directories are read.
    scope: "driver",
    reach: "any",
    query: WHERE,
    reply: PersonaList,
    errors: [],
  },
  getPersona: {
    ...ROUTES.getPersona,
    answeredWithout: ["daemon"],
    summary: "One persona by name, as it applies in a directory.",
    scope: "driver",
    reach: "any",
    query: WHERE,
    reply: Persona,
    errors: ["persona_not_found", "persona_unusable"],
  },
} as const satisfies Record<string, Endpoint>;
