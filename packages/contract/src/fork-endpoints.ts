/** Carrying on a copy of a session's conversation. */
import * as z from "zod/mini";
import type { Endpoint } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { Session } from "./session.ts";
import { FORK_FILES } from "./status.ts";

const text = z.string().check(z.minLength(1), z.maxLength(1000, "a name has at most 1,000 characters"));

export const ForkRequest = z.object({
  /** Left out: NAME-fork. */
  name: z.optional(text),
  /** Of the original's workspace. Left out: the newest, made now if something has changed since. */
  checkpoint: z.optional(z.int().check(z.minimum(1))),
  /** Where it works, in place of a new workspace. */
  cwd: z.optional(z.string().check(z.maxLength(4096, "a directory path has at most 4096 characters"))),
  workspace: z.optional(text),
  /** False: the project's set-up command is left out in a new workspace. */
  setup: z._default(z.boolean(), true),
});
export type ForkRequest = z.infer<typeof ForkRequest>;

/** `notes`: what whoever asked should know of the workspace that was made for it, such as what was not copied. */
export const Fork = z.extend(Session, { files: z.enum(FORK_FILES), notes: z.array(z.string()) });
export type Fork = z.infer<typeof Fork>;

export const FORK_ENDPOINTS = {
  forkSession: {
    ...ROUTES.forkSession,
    summary:
      "Starts a session of the same agent with a copy of the conversation, in a new workspace with the files of a checkpoint. The original does not change.",
    scope: "driver",
    reach: "own",
    body: ForkRequest,
    reply: Fork,
    errors: [
      "session_not_found",
      "session_ambiguous",
      "session_damaged",
      "fork_refused",
      "conversation_unknown",
      "invalid_name",
      "name_taken",
      "program_not_found",
      "cwd_unusable",
      "checkpoint_not_found",
      "repository_unusable",
      "git_failed",
      "setup_failed",
      "not_trusted",
      "workspace_not_found",
      "workspace_ambiguous",
      "workspace_removed",
      "host_missing",
      "host_failed",
    ],
  },
} as const satisfies Record<string, Endpoint>;
