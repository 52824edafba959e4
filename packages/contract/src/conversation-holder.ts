/**
 * What is said on the socket of a holder that keeps a conversation, in the frames of every holder's. It outlives the daemon that started it: unknown
 * messages are answered with an error, and fields are only ever added.
 */
import * as z from "zod/mini";
import { Principal } from "./ids.ts";
import type { Settings } from "./transcript.ts";

export const CONVERSATION_PROTOCOL = 1;

/** `control` comes first. `id` is answered by a `reply` with the same one. */
export const ToConversation = z.discriminatedUnion("t", [
  z.object({ t: z.literal("control"), v: z.int() }),
  /**
   * Words for the agent. The reply comes when they are in the transcript, also where they have been since before: a message is said once.
   * While a turn runs it is refused (`busy`), unless it is to `steer`.
   */
  z.object({
    t: z.literal("prompt"),
    id: z.int(),
    message: z.string(),
    from: Principal,
    text: z.string(),
    addition: z.nullable(z.string()),
    /** What the agent is told: the text and its addition, and whose it is where it is no person's. */
    words: z.string(),
    steer: z.boolean(),
    /** A peer's: an agent that takes nothing into a turn is not interrupted for it. Refused then, with `turn_runs`. */
    patient: z.optional(z.boolean()),
  }),
  /** Ends the turn that runs; what came stays. */
  z.object({ t: z.literal("cancel"), id: z.int() }),
  /** Of what was asked with `ask`. One that is over already is no error. */
  z.object({
    t: z.literal("answer"),
    id: z.int(),
    ask: z.string(),
    allow: z.boolean(),
    always: z.boolean(),
    by: z.nullable(Principal),
    /** Why not, for the agent's model. */
    reason: z.optional(z.nullable(z.string())),
  }),
  z.object({ t: z.literal("set"), id: z.int(), mode: z.optional(z.string()), model: z.optional(z.string()) }),
  /** The agent begins with an empty memory, in the same run; the transcript stays. */
  z.object({ t: z.literal("clear"), id: z.int() }),
  z.object({ t: z.literal("state"), id: z.int() }),
  /** Writes a note into the transcript, once for each `key`. `words` tell the agent the same, without interrupting it. */
  z.object({
    t: z.literal("note"),
    id: z.int(),
    key: z.string(),
    about: z.string(),
    text: z.string(),
    words: z.nullable(z.string()),
  }),
]);
export type ToConversation = z.infer<typeof ToConversation>;

/** What a conversation is in the middle of. `ready`: the agent is there, and has told what it can. */
export interface ConversationState {
  ready: boolean;
  conversation: string | null;
  turn: string | null;
  asks: string[];
  settings: Settings;
}

export type FromConversation =
  | { t: "welcome"; v: number; pid: number }
  | {
      t: "reply";
      id: number;
      state?: ConversationState;
      error?: string;
      hint?: string;
      code?: "busy" | "ended" | "not_offered" | "failed";
    };

/** `holder.json` of a conversation, beside the socket and the register: what the holder is to do with the program that `launch` becomes. */
export interface ConversationOrder {
  cwd: string;
  /** The agent's own conversation to go on with; null: a new one. */
  conversation: string | null;
  /** Nothing was said in it: the agent may not have kept it, and begins one that is as good. */
  isEmpty?: boolean | undefined;
  /** In milliseconds since 1970: before then the agent must not be given it. */
  notBefore?: number | undefined;
  mode: string | null;
  model: string | null;
  mcpServers: { name: string; command: readonly string[]; env: Readonly<Record<string, string>> }[];
}
