import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Newer } from "../session/evidence.ts";
import { flag, wholeNumber } from "../wire.ts";

/** An agent that can be started, and its installation on this machine. */
export const AgentInfo = z.object({
  name: z.string(),
  description: z.string(),
  kind: z.enum(["terminal", "shell"]),
  /** Null: its program is not on the PATH. */
  path: z.nullable(z.string()),
  /** Null: not found, not asked, or not reported by the program. */
  version: z.nullable(z.string()),
  /** Set if the agent's version is newer than the one its status rules were made for. */
  newer: z.nullable(Newer),
  /** The version is not known yet: the program did not answer within the given time. */
  asking: z.boolean(),
  /** False: never tested with the real program; its status is only that of its process. */
  tested: z.boolean(),
  /** Defined in config.toml. */
  own: z.boolean(),
  takesPrompt: z.boolean(),
  resumes: z.boolean(),
  /** Program that speaks the Agent Client Protocol for the agent; null: there is none, or it was not found. */
  structured: z.nullable(z.string()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

export const AGENT_ENDPOINTS = {
  listAgents: {
    ...ROUTES.listAgents,
    answeredWithout: ["daemon"],
    summary:
      "The agents that can be started, searched on the caller's PATH. With `versions` each is asked for its version, for at most `waitMs`.",
    // Asking for a version runs the program, on a PATH that the caller chooses. That needs the same right as starting an agent.
    scope: "driver",
    reach: "any",
    query: z.object({ path: z.optional(z.string()), home: z.optional(z.string()), versions: flag, waitMs: z.optional(wholeNumber) }),
    reply: z.object({ agents: z.array(AgentInfo) }),
    errors: [],
  },
} as const satisfies Record<string, Endpoint>;
