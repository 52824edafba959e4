/** Agents that were started outside of Holdfast, and how one becomes a session. */
import * as z from "zod/mini";
import type { Endpoint } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { Session } from "./session.ts";

const word = z.string().check(z.minLength(1), z.maxLength(1000));

/** An agent that runs and is no session. `pane`: of the tmux server at `socket`; both null where it is in none that can be reached. */
export const Adoptable = z.object({
  pid: z.int(),
  agent: z.string(),
  command: z.string(),
  cwd: z.nullable(z.string()),
  socket: z.nullable(z.string()),
  /** What `adopt --tmux` takes for it after the socket. */
  target: z.nullable(z.string()),
  pane: z.nullable(z.string()),
});
export type Adoptable = z.infer<typeof Adoptable>;

/** `target`: a session's name, with `.PANE` or `:WINDOW.PANE` behind it, or the id of a pane, on the tmux server at `socket`. */
export const AdoptRequest = z.object({
  tmux: z.optional(z.object({ socket: word, target: word })),
  pid: z.optional(z.int().check(z.minimum(2))),
  name: z.optional(z.string().check(z.maxLength(1000))),
  /** What it is, where that cannot be seen by its program. */
  agent: z.optional(z.string().check(z.maxLength(1000))),
  role: z.optional(word),
  objective: z.optional(word),
  /** The agent's own id of its conversation, where somebody knows it. */
  conversation: z.optional(z.string().check(z.regex(/^\w[\w.-]{0,199}$/, "a conversation id has letters, digits, dots and dashes"))),
  /** Once it has ended by itself, its next run is started with its conversation. */
  resumeWhenEnded: z._default(z.boolean(), false),
});
export type AdoptRequest = z.infer<typeof AdoptRequest>;

/** `missing`: what could not be taken over, a sentence each. */
export const AdoptReply = z.object({ session: Session, missing: z.array(z.string()) });
export type AdoptReply = z.infer<typeof AdoptReply>;

export const ADOPTION_ENDPOINTS = {
  listAdoptable: {
    ...ROUTES.listAdoptable,
    summary: "Running agents outside Holdfast that can be adopted: in panes of the caller's own tmux servers, or elsewhere.",
    scope: "owner",
    reply: z.object({ agents: z.array(Adoptable) }),
    errors: [],
  },
  adopt: {
    ...ROUTES.adopt,
    summary: "Adopts an agent that was started outside a session, where it runs; lists what could not be taken over.",
    scope: "owner",
    body: AdoptRequest,
    reply: AdoptReply,
    errors: ["not_adoptable", "conversation_unknown", "agent_unknown", "name_taken", "invalid_name", "host_missing", "host_failed"],
  },
} as const satisfies Record<string, Endpoint>;
