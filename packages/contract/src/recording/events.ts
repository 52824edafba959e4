/** Journal events of recordings. */
import * as z from "zod/mini";
import { RunNumber } from "../ids.ts";
import { Time } from "../session/session.ts";

export const RECORDING_EVENTS = {
  /** The disk was full, or the run's recorder died and was replaced. The output in between is missing from the recording. */
  "recording.gap": z.object({
    run: RunNumber,
    offset: z.int(),
    bytes: z.nullable(z.int()),
    why: z.string(),
    began: z.optional(Time),
  }),
  /** The oldest output was deleted: `bytes` since the last such event. The recording now begins at `offset`, with `outputPath`. */
  "recording.cut": z.object({ run: RunNumber, offset: z.int(), bytes: z.int(), limit: z.int(), outputPath: z.string() }),
} as const;
