/**
 * Messages on the socket of a holder that keeps a conversation, in the same frames as for every holder. A holder outlives the daemon that started it:
 * unknown messages get an error, and fields are only ever added.
 */
import * as z from "zod/mini";
import { Principal } from "../ids.ts";
import type { Settings } from "./transcript.ts";

export const CONVERSATION_PROTOCOL = 1;

/** `control` comes first. The reply to a message has its `id`. */
export const ToConversation = z.discriminatedUnion("t", [
  z.object({ t: z.literal("control"), v: z.int() }),
  /**
   * Text for the agent. The reply comes when the text is in the transcript, also if an earlier prompt put it there: a message is sent once. While a
   * turn runs the prompt is refused (`busy`), unless `steer` is set.
   */
  z.object({
    t: z.literal("prompt"),
    id: z.int(),
    message: z.string(),
    from: Principal,
    text: z.string(),
    addition: z.nullable(z.string()),
    /** The text for the agent: `text` with its addition, and its sender unless that is a person. */
    words: z.string(),
    steer: z.boolean(),
    /** Set for a message from a peer: it must not interrupt an agent that cannot be steered. The prompt is then refused (`busy`). */
    patient: z.optional(z.boolean()),
  }),
  /** Cancels the current turn; its output so far stays. */
  z.object({ t: z.literal("cancel"), id: z.int() }),
  /** Answers an `ask`. Answering a closed one is not an error. */
  z.object({
    t: z.literal("answer"),
    id: z.int(),
    ask: z.string(),
    allow: z.boolean(),
    always: z.boolean(),
    by: z.nullable(Principal),
    /** The reason of a denial, for the agent's model. */
    reason: z.optional(z.nullable(z.string())),
  }),
  z.object({ t: z.literal("set"), id: z.int(), mode: z.optional(z.string()), model: z.optional(z.string()) }),
  /** Clears the agent's memory within the same run; the transcript stays. */
  z.object({ t: z.literal("clear"), id: z.int() }),
  z.object({ t: z.literal("state"), id: z.int() }),
  /** Writes a note to the transcript, once for each `key`. `words` tell the agent the same without interrupting it. */
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

/** The current state of a conversation. `ready`: the agent is running and has reported its capabilities. */
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

/** `holder.json` of a conversation, beside the socket and the register: the holder's instructions for the program that `launch` becomes. */
export interface ConversationOrder {
  cwd: string;
  /** The agent's own conversation to continue; null: a new one. */
  conversation: string | null;
  /** The conversation is empty. The agent may not have saved it, so the holder may start a new one instead. */
  isEmpty?: boolean | undefined;
  /** Milliseconds since 1970. The conversation must not be given to the agent before this time. */
  notBefore?: number | undefined;
  mode: string | null;
  model: string | null;
  mcpServers: { name: string; command: readonly string[]; env: Readonly<Record<string, string>> }[];
  /** `_meta` of the requests that open the conversation. */
  meta?: Readonly<Record<string, unknown>> | undefined;
}
