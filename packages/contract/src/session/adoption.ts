/** Endpoints that find agents outside Holdfast and adopt them. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { CONVERSATION_ID } from "../ids.ts";
import { ROUTES } from "../routes.ts";
import { Session } from "./session.ts";

const word = z.string().check(z.minLength(1), z.maxLength(1000));

/** A running agent that is not a session. `pane` is on the tmux server at `socket`; both are null if no reachable server has the agent. */
export const Adoptable = z.object({
  pid: z.int(),
  agent: z.string(),
  command: z.string(),
  cwd: z.nullable(z.string()),
  socket: z.nullable(z.string()),
  /** Target for `adopt --tmux`, written after the socket. */
  target: z.nullable(z.string()),
  pane: z.nullable(z.string()),
});
export type Adoptable = z.infer<typeof Adoptable>;

/** `target` on the tmux server at `socket`: a session name, also with `.PANE` or `:WINDOW.PANE`, or a pane id. */
export const AdoptRequest = z.object({
  tmux: z.optional(z.object({ socket: word, target: word })),
  pid: z.optional(z.int().check(z.minimum(2))),
  name: z.optional(z.string().check(z.maxLength(1000))),
  /** The agent's name, if its program does not tell. */
  agent: z.optional(z.string().check(z.maxLength(1000))),
  role: z.optional(word),
  objective: z.optional(word),
  /** The agent's own id of its conversation, if known. */
  conversation: z.optional(z.string().check(z.regex(CONVERSATION_ID, "a conversation id has letters, digits, dots and dashes"))),
  /** When the agent ends, start the next run with its conversation. */
  resumeWhenEnded: z._default(z.boolean(), false),
});
export type AdoptRequest = z.infer<typeof AdoptRequest>;

/** `missing`: one sentence for each thing that could not be taken over. */
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
