/** Journal events of conversations. They are summaries; the transcript has everything, up to `offset` when the event was written. */
import * as z from "zod/mini";
import { Principal, RunNumber } from "../ids.ts";
import { TOOL_KINDS, TURN_ENDS } from "./enums.ts";

/** `turn` is the id of the message that began the turn. `offset`: position in the transcript after the recorded entry. */
const place = { run: RunNumber, turn: z.nullable(z.string()), offset: z.int() };

export const CONVERSATION_EVENTS = {
  "turn.started": z.object({ ...place, from: Principal, text: z.string() }),
  /** `text`: the end of the agent's answer, shortened to about one line. */
  "turn.ended": z.object({ ...place, reason: z.enum(TURN_ENDS), text: z.string(), error: z.nullable(z.string()) }),
  "tool.started": z.object({ ...place, call: z.string(), title: z.string(), kind: z.enum(TOOL_KINDS), files: z.array(z.string()) }),
  /** `bytes`: size of the whole output; `text`: its beginning. */
  "tool.output": z.object({ ...place, call: z.string(), text: z.string(), bytes: z.int(), changes: z.array(z.string()) }),
  "tool.completed": z.object({ ...place, call: z.string(), ok: z.boolean() }),
  /** Part of a transcript was unreadable. The readable part was kept, and the damaged file was set aside. */
  "transcript.damaged": z.object({
    run: RunNumber,
    offset: z.int(),
    lines: z.int(),
    aside: z.nullable(z.string()),
    /** Size of the file that replaced it. */
    bytes: z.optional(z.int()),
    /** Number of lost turns that were restored from the journal. */
    turns: z.optional(z.int()),
    /** The damage: the file is empty, missing, shorter than before, or changed. */
    what: z.optional(z.string()),
  }),
} as const;
