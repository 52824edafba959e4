/** Endpoints of Working Contexts. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { ContextFileSchema, LONGEST_CONTEXT, WorkingContext } from "./context.ts";

/** The owner of the context: a session or workspace by name, id or id prefix, or a directory by its absolute path. Exactly one of the two. */
const TARGET = {
  of: z.optional(z.string().check(z.maxLength(1000, "a name has at most 1,000 characters"))),
  directory: z.optional(z.string().check(z.maxLength(4096, "a directory path has at most 4096 characters"))),
};
const ERRORS = [
  "session_not_found",
  "session_ambiguous",
  "workspace_ambiguous",
  "workspace_removed",
  "cwd_unusable",
  "file_unusable",
] as const;

export const CONTEXT_ENDPOINTS = {
  getContext: {
    ...ROUTES.getContext,
    answeredWithout: ["daemon"],
    summary: "The Working Context of a session, a workspace or a directory, with the text of its files.",
    scope: "driver",
    reach: "own",
    query: z.object(TARGET),
    reply: WorkingContext,
    errors: ERRORS,
  },
  writeContext: {
    ...ROUTES.writeContext,
    summary: "Writes a file of a Working Context; without a file name, creates the missing ones.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: z.object({
      ...TARGET,
      write: z.optional(
        z.object({
          file: ContextFileSchema,
          text: z.string().check(z.maxLength(LONGEST_CONTEXT, "a file of the Working Context has at most 1,000,000 characters")),
          /**
           * Digest of the text that was read, null for a missing file. The write is refused if the file has changed since; without a digest it is
           * always replaced.
           */
          digest: z.optional(z.nullable(z.string().check(z.maxLength(200)))),
        }),
      ),
    }),
    reply: WorkingContext,
    errors: [...ERRORS, "context_changed"],
  },
} as const satisfies Record<string, Endpoint>;
