/** What the journal keeps of conversations: the coarse facts. All that was said is in the transcript, up to `offset` when the fact was written. */
import * as z from "zod/mini";
import { Principal, RunNumber } from "./ids.ts";
import { TOOL_KINDS, TURN_ENDS } from "./status.ts";

/** `turn` is the id of the message that began it. `offset`: of the transcript, behind what says so. */
const place = { run: RunNumber, turn: z.nullable(z.string()), offset: z.int() };

export const CONVERSATION_EVENTS = {
  "turn.started": z.object({ ...place, from: Principal, text: z.string() }),
  /** `text`: the end of what the agent said, as much as is worth a line. */
  "turn.ended": z.object({ ...place, reason: z.enum(TURN_ENDS), text: z.string(), error: z.nullable(z.string()) }),
  "tool.started": z.object({ ...place, call: z.string(), title: z.string(), kind: z.enum(TOOL_KINDS), files: z.array(z.string()) }),
  /** `bytes` of it in all; `text` is where it begins. */
  "tool.output": z.object({ ...place, call: z.string(), text: z.string(), bytes: z.int(), changes: z.array(z.string()) }),
  "tool.completed": z.object({ ...place, call: z.string(), ok: z.boolean() }),
  /** Part of a transcript could not be read: what is readable was kept, and what was there before is set aside. */
  "transcript.damaged": z.object({
    run: RunNumber,
    offset: z.int(),
    lines: z.int(),
    aside: z.nullable(z.string()),
    /** How long the file is that took its place. */
    bytes: z.optional(z.int()),
    /** Turns that the file had lost, and that were put back from the journal. */
    turns: z.optional(z.int()),
    /** What was found: that it is empty or missing, is shorter than it was, or was changed. */
    what: z.optional(z.string()),
  }),
} as const;
