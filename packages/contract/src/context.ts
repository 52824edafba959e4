/** The Working Context of a directory: four files that travel from one agent to the next, whoever made them. */
import * as z from "zod/mini";
import { Time } from "./session.ts";
import { CONTEXT_FILES, CONTEXT_STATES } from "./status.ts";

/** Of a file's text; of a longer one its first so many bytes are read. */
export const LONGEST_CONTEXT = 1_000_000;

export const ContextFileSchema = z.enum(CONTEXT_FILES);

export const ContextFile = z.object({
  name: ContextFileSchema,
  path: z.string(),
  state: z.enum(CONTEXT_STATES),
  /** Empty for a missing one. */
  text: z.string(),
  /** Of the whole file. */
  bytes: z.int(),
  /** The file is longer than what `text` has of it. */
  cut: z.boolean(),
  /** Of all that is in it: whoever writes says by it what they have read. Null for a missing one. */
  digest: z.nullable(z.string()),
  changedAt: z.nullable(Time),
});
export type ContextFile = z.infer<typeof ContextFile>;

export const WorkingContext = z.object({
  /** The directory that it belongs to. */
  root: z.string(),
  /** Where its files are: `.holdfast/context` in it. */
  directory: z.string(),
  /** False: there is none; its files are all missing. */
  exists: z.boolean(),
  files: z.array(ContextFile),
});
export type WorkingContext = z.infer<typeof WorkingContext>;
