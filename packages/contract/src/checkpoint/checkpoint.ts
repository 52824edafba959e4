/** Checkpoints: the saved files and branch of a workspace, to compare with and to rewind to. */
import * as z from "zod/mini";
import { SessionId, WorkspaceId } from "../ids.ts";
import { Time } from "../session/session.ts";

/**
 * A path that the checkpoint leaves out: a new file above the size limit, an unreadable file, or changes in a nested repository (a submodule's own
 * changes).
 */
export const LeftOut = z.object({ path: z.string(), why: z.enum(["large", "unreadable", "repository"]) });
export type LeftOut = z.infer<typeof LeftOut>;

export const Checkpoint = z.object({
  /** Number within the workspace, from 1. */
  number: z.int(),
  commit: z.string(),
  tree: z.string(),
  /** The commit that was checked out (null before the first one), and the branch, if any. */
  head: z.nullable(z.string()),
  branch: z.nullable(z.string()),
  at: Time,
  /** `start`: before an agent changed anything. `rewind`: the state before a rewind. */
  why: z.enum(["start", "turn", "asked", "rewind"]),
  session: z.nullable(SessionId),
  /** The number of the session's turn that ended. */
  turn: z.nullable(z.int()),
  note: z.nullable(z.string()),
  /** With `rewind`: the number of the target checkpoint. */
  rewoundTo: z.nullable(z.int()),
  /**
   * Number of files that differ from the previous checkpoint, or after a rewind from its target. For the first one, from the commit that was checked
   * out.
   */
  files: z.int(),
  leftOut: z.array(LeftOut),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** `id` is the workspace's. The event belongs to the session whose turn ended, or to none. */
export const CHECKPOINT_EVENTS = {
  "checkpoint.created": z.extend(Checkpoint, { id: WorkspaceId }),
  /** Files, and the branch unless `filesOnly`, were returned to checkpoint `number`; `before` holds the previous state. */
  "checkpoint.rewound": z.object({ id: WorkspaceId, number: z.int(), before: z.int(), filesOnly: z.boolean() }),
};
