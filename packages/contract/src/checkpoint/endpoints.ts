/** Endpoints of checkpoints. `ref` is a workspace, a path in it, or a session that works in it. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { flag } from "../wire.ts";
import { DiffStat } from "../workspace/endpoints.ts";
import { Checkpoint } from "./checkpoint.ts";

const number = z.int().check(z.positive("a checkpoint's number is 1 or more"));
const numberInQuery = z.optional(
  z.pipe(z.string().check(z.regex(/^[0-9]{1,9}$/, "a checkpoint's number is 1 or more")), z.transform(Number)),
);

const ERRORS = ["workspace_not_found", "workspace_ambiguous", "workspace_removed", "repository_unusable", "git_failed"] as const;

export const CheckpointDiff = z.extend(DiffStat, {
  diff: z.string(),
  from: z.int(),
  /** Null: the current files. */
  to: z.nullable(z.int()),
});
export type CheckpointDiff = z.infer<typeof CheckpointDiff>;

export const CHECKPOINT_ENDPOINTS = {
  listCheckpoints: {
    ...ROUTES.listCheckpoints,
    summary:
      "A workspace's checkpoints, oldest first. With `now` also the number of files changed since the newest one, or since the last rewind.",
    scope: "observer",
    reach: "own",
    query: z.object({ now: flag }),
    reply: z.object({
      workspace: z.string(),
      checkpoints: z.array(Checkpoint),
      changed: z.nullable(z.object({ since: z.int(), files: z.int() })),
    }),
    errors: ERRORS,
  },
  createCheckpoint: {
    ...ROUTES.createCheckpoint,
    summary:
      "Keeps a workspace's files as a checkpoint, including new files and excluding ignored ones. Branch, index and stash stay untouched.",
    scope: "driver",
    reach: "own",
    body: z.object({ note: z.optional(z.string().check(z.maxLength(1000, "a note has at most 1,000 characters"))) }),
    reply: Checkpoint,
    errors: ERRORS,
  },
  diffCheckpoints: {
    ...ROUTES.diffCheckpoints,
    summary: "The changes from one checkpoint (default: the newest, or the last rewind's) to another, or to the current files.",
    scope: "observer",
    reach: "own",
    query: z.object({ from: numberInQuery, to: numberInQuery, stat: flag, names: flag, color: flag }),
    reply: CheckpointDiff,
    errors: [...ERRORS, "checkpoint_not_found"],
  },
  rewindWorkspace: {
    ...ROUTES.rewindWorkspace,
    summary:
      "Restores files and branch from a checkpoint, with `filesOnly` the files alone. The current state becomes a checkpoint first. Refused while a session there is in a turn, unless `force` is set.",
    scope: "driver",
    reach: "own",
    body: z.object({ number, filesOnly: z._default(z.boolean(), false), force: z._default(z.boolean(), false) }),
    reply: z.object({ workspace: z.string(), to: Checkpoint, before: Checkpoint, filesOnly: z.boolean() }),
    errors: [...ERRORS, "checkpoint_not_found", "rewind_refused"],
  },
} as const satisfies Record<string, Endpoint>;
