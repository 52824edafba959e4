/** Forks: sessions that continue a copy of another session's conversation. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Session } from "./session.ts";
import { FORK_FILES } from "./status.ts";

const text = z.string().check(z.minLength(1), z.maxLength(1000, "a name has at most 1,000 characters"));

export const ForkRequest = z.object({
  /** NAME-fork by default. */
  name: z.optional(text),
  /** Checkpoint of the original's workspace. By default the newest, created now if files have changed since. */
  checkpoint: z.optional(z.int().check(z.minimum(1))),
  /** Working directory, instead of a new workspace. */
  cwd: z.optional(z.string().check(z.maxLength(4096, "a directory path has at most 4096 characters"))),
  workspace: z.optional(text),
  /** False: do not run the project's set-up command in a new workspace. */
  setup: z._default(z.boolean(), true),
});
export type ForkRequest = z.infer<typeof ForkRequest>;

/** `notes`: remarks for the caller on the new workspace, such as files that were not copied. */
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
