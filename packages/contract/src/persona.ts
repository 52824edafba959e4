/** Personas: a role for an agent, as a markdown file with front matter. */
import * as z from "zod/mini";

/** From the one that wins to the one that loses: `.holdfast/personas` of the project, the user's configuration, `.claude/agents`. */
export const PERSONA_SOURCES = ["project", "user", "claude_project", "claude_user"] as const;
export const PersonaSource = z.enum(PERSONA_SOURCES);
export type PersonaSource = z.infer<typeof PersonaSource>;

export const Persona = z.object({
  name: z.string(),
  description: z.string(),
  /** Null: whichever agent is asked for. */
  agent: z.nullable(z.string()),
  /** Null: the agent's own choice. */
  model: z.nullable(z.string()),
  /** Names of tools, as the agent calls them; null: all it has. */
  tools: z.nullable(z.array(z.string())),
  /** What the agent is told to be: the text below the front matter. */
  instructions: z.string(),
  source: PersonaSource,
  file: z.string(),
  /** The file of the one of this name that is used in its place; null: it is this one. */
  shadowedBy: z.nullable(z.string()),
});
export type Persona = z.infer<typeof Persona>;

/** What is wrong with a file, and what was expected there. */
export const PersonaProblem = z.object({
  file: z.string(),
  line: z.int(),
  what: z.string(),
  expected: z.string(),
  /** Whether the persona can be used all the same. */
  usable: z.boolean(),
});
export type PersonaProblem = z.infer<typeof PersonaProblem>;

export const PersonaList = z.object({ personas: z.array(Persona), problems: z.array(PersonaProblem) });
export type PersonaList = z.infer<typeof PersonaList>;
