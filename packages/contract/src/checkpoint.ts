/** A workspace's files and branch as they were at a moment, to compare with and to go back to. */
import * as z from "zod/mini";
import { SessionId, WorkspaceId } from "./ids.ts";
import { Time } from "./session.ts";

/** What is not in it: a new file beyond the limit, one that cannot be read, what is in a repository within (a submodule's own changes). */
export const LeftOut = z.object({ path: z.string(), why: z.enum(["large", "unreadable", "repository"]) });
export type LeftOut = z.infer<typeof LeftOut>;

export const Checkpoint = z.object({
  /** Counted within its workspace, from 1. */
  number: z.int(),
  commit: z.string(),
  tree: z.string(),
  /** What was checked out: the commit (null before the first), and the branch if one was. */
  head: z.nullable(z.string()),
  branch: z.nullable(z.string()),
  at: Time,
  /** `start`: before anything was done by an agent. `rewind`: what was there before one. */
  why: z.enum(["start", "turn", "asked", "rewind"]),
  session: z.nullable(SessionId),
  /** The number of the session's turn that ended. */
  turn: z.nullable(z.int()),
  note: z.nullable(z.string()),
  /** With `rewind`: where to. */
  rewoundTo: z.nullable(z.int()),
  /** How many files differ from the checkpoint before it (after a rewind, from that one); of the first one, from the commit that was checked out. */
  files: z.int(),
  leftOut: z.array(LeftOut),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** `id` is the workspace's; of the session whose turn ended, or of none. */
export const CHECKPOINT_EVENTS = {
  "checkpoint.created": z.extend(Checkpoint, { id: WorkspaceId }),
  /** The files are those of checkpoint `number`, and unless `filesOnly` the branch too; what was there is checkpoint `before`. */
  "checkpoint.rewound": z.object({ id: WorkspaceId, number: z.int(), before: z.int(), filesOnly: z.boolean() }),
};
