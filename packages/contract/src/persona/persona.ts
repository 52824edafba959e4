/** Personas: a role for an agent, as a markdown file with front matter. */
import * as z from "zod/mini";

/** Highest precedence first: `.holdfast/personas` of the project, the user's configuration, then `.claude/agents` of both. */
export const PERSONA_SOURCES = ["project", "user", "claude_project", "claude_user"] as const;
export const PersonaSource = z.enum(PERSONA_SOURCES);
export type PersonaSource = z.infer<typeof PersonaSource>;

export const Persona = z.object({
  name: z.string(),
  description: z.string(),
  /** Null: the requested agent. */
  agent: z.nullable(z.string()),
  /** Null: the agent's default. */
  model: z.nullable(z.string()),
  /** Tool names, as the agent calls them; null: all its tools. */
  tools: z.nullable(z.array(z.string())),
  /** Tools that the agent may not use. */
  disallowedTools: z.array(z.string()),
  /** Where the persona's agent enforces both lists; empty: nowhere, or the persona names no agent. */
  toolsEnforcedIn: z.array(z.enum(["terminal", "conversation"])),
  /** The agent's permission mode; null: its default. */
  permissionMode: z.nullable(z.string()),
  /** Instructions for the agent: the text below the front matter. */
  instructions: z.string(),
  source: PersonaSource,
  file: z.string(),
  /** File of the persona with the same name that takes precedence; null: this one is used. */
  shadowedBy: z.nullable(z.string()),
});
export type Persona = z.infer<typeof Persona>;

/** An error in a persona file, with the expected content. */
export const PersonaProblem = z.object({
  file: z.string(),
  line: z.int(),
  what: z.string(),
  expected: z.string(),
  /** True if the persona can be used anyway. */
  usable: z.boolean(),
});
export type PersonaProblem = z.infer<typeof PersonaProblem>;

export const PersonaList = z.object({ personas: z.array(Persona), problems: z.array(PersonaProblem) });
export type PersonaList = z.infer<typeof PersonaList>;
