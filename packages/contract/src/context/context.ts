/** The Working Context of a directory: four files that pass from one agent to the next. */
import * as z from "zod/mini";
import { Time } from "../session/session.ts";
import { CONTEXT_FILES, CONTEXT_STATES } from "./enums.ts";

/** Longest text of a file, in bytes; only this much of a longer file is read. */
export const LONGEST_CONTEXT = 1_000_000;

export const ContextFileSchema = z.enum(CONTEXT_FILES);

export const ContextFile = z.object({
  name: ContextFileSchema,
  path: z.string(),
  state: z.enum(CONTEXT_STATES),
  /** Empty if the file is missing. */
  text: z.string(),
  /** Size of the whole file. */
  bytes: z.int(),
  /** True if the file is longer than `text`. */
  cut: z.boolean(),
  /** Digest of the whole file. A writer passes it to prove which version it read. Null if the file is missing. */
  digest: z.nullable(z.string()),
  changedAt: z.nullable(Time),
});
export type ContextFile = z.infer<typeof ContextFile>;

export const WorkingContext = z.object({
  /** The directory that the context belongs to. */
  root: z.string(),
  /** Directory of the files: `.holdfast/context` in `root`. */
  directory: z.string(),
  /** False: the context does not exist, and all its files are missing. */
  exists: z.boolean(),
  files: z.array(ContextFile),
});
export type WorkingContext = z.infer<typeof WorkingContext>;

export const CONTEXT_EVENTS = {
  /** The missing files of a Working Context were created on request. */
  "context.created": z.object({ root: z.string(), files: z.array(ContextFileSchema) }),
  "context.written": z.object({ root: z.string(), file: ContextFileSchema, bytes: z.int() }),
} as const;
