/** Workspaces: a git worktree per session or a plain directory, with their states and events. */
import * as z from "zod/mini";
import { Principal, TournamentId, WorkspaceId } from "../ids.ts";
import { Time } from "../session/session.ts";
import { MERGE_WAYS, SETUP_STATES, WORKSPACE_KINDS } from "./enums.ts";

/** The workspace as created; stored in the journal and in `workspace.json` beside it. */
export const WorkspaceSpec = z.object({
  id: WorkspaceId,
  name: z.string(),
  kind: z.enum(WORKSPACE_KINDS),
  path: z.string(),
  /** The main working tree, or the bare repository; null for a plain directory, as are `branch`, `base` and `baseCommit`. */
  repo: z.nullable(z.string()),
  branch: z.nullable(z.string()),
  /** True if the branch was created for the workspace, and so is removed with it. */
  ownBranch: z.boolean(),
  /** The branch that it began from and is merged into, or a commit if no branch was checked out. */
  base: z.nullable(z.string()),
  baseCommit: z.nullable(z.string()),
  /** The first of `ports` TCP ports that belong to this workspace alone: `HOLDFAST_PORT_BASE`. */
  portBase: z.int(),
  ports: z.int(),
  /** Remarks for users: a plain directory isolates nothing, large files are pointers. */
  notes: z.array(z.string()),
  /** Tournament that it was created for, with the entry's number and agent. */
  tournament: z.optional(z.object({ id: TournamentId, name: z.string(), number: z.int(), agent: z.string() })),
});
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;

/** The set-up command of `.holdfast/config.toml`. `log`: file with its complete output. */
export const Setup = z.object({
  command: z.string(),
  state: z.enum(SETUP_STATES),
  exitCode: z.nullable(z.int()),
  log: z.string(),
});
export type Setup = z.infer<typeof Setup>;

/** A merge conflict with another live workspace, by name. */
export const Conflict = z.object({ workspace: z.string(), files: z.array(z.string()) });
export type Conflict = z.infer<typeof Conflict>;

export const Workspace = z.extend(WorkspaceSpec, {
  owner: Principal,
  createdAt: Time,
  setup: z.nullable(Setup),
  /** Names of the sessions that work in it and have not ended. */
  sessions: z.array(z.string()),
  /** True if there are uncommitted changes or new files; null: not known (its directory is gone). */
  dirty: z.nullable(z.boolean()),
  /** Number of such files. */
  changes: z.nullable(z.int()),
  /** Commits that its base lacks, and commits of the base that it lacks. */
  ahead: z.nullable(z.int()),
  behind: z.nullable(z.int()),
  /** Conflicts with other live workspaces of the repository, as of their last commits. */
  conflicts: z.array(Conflict),
  /** Files that conflict with the current base. */
  baseConflicts: z.array(z.string()),
  mergedAt: z.nullable(Time),
  removedAt: z.nullable(Time),
  /** Ref that recovers everything that was in it when it was removed. */
  recoveryRef: z.nullable(z.string()),
});
export type Workspace = z.infer<typeof Workspace>;

/** Work that removing a workspace would lose. */
export const Losses = z.object({
  /** Uncommitted files, as `git status` marks them: `?? notes.txt`. */
  files: z.array(z.string()),
  /** Commits that are neither in the base nor on a remote, as `HASH SUBJECT`, newest first. */
  commits: z.array(z.string()),
  /** Names of sessions that work there. */
  sessions: z.array(z.string()),
});
export type Losses = z.infer<typeof Losses>;

export const MergeWaySchema = z.enum(MERGE_WAYS);

/** These events belong to no session; `id` is the workspace's. */
export const WORKSPACE_EVENTS = {
  "workspace.created": WorkspaceSpec,
  /** The record was lost with a damaged journal and rebuilt from the workspace's files. */
  "workspace.rebuilt": z.extend(WorkspaceSpec, { owner: Principal, createdAt: Time }),
  "workspace.setup_started": z.object({ id: WorkspaceId, command: z.string() }),
  "workspace.setup_ended": z.object({ id: WorkspaceId, state: z.enum(SETUP_STATES), exitCode: z.nullable(z.int()) }),
  /** `tip`: the branch as it was merged; `commit`: the base after the merge. */
  "workspace.merged": z.object({ id: WorkspaceId, into: z.string(), way: MergeWaySchema, tip: z.string(), commit: z.string() }),
  "workspace.pushed": z.object({ id: WorkspaceId, remote: z.string(), branch: z.string(), commit: z.string() }),
  /** The content is kept under `ref`; null if that was not possible or there was nothing to keep. */
  "workspace.removed": z.object({
    id: WorkspaceId,
    name: z.string(),
    ref: z.nullable(z.string()),
    why: z.enum(["asked", "merged", "gone"]),
  }),
  "workspace.recovered": z.object({
    id: WorkspaceId,
    name: z.string(),
    branch: z.nullable(z.string()),
    path: z.string(),
    /** Set if they changed, because others had taken the old ones. */
    ownBranch: z.optional(z.boolean()),
    portBase: z.optional(z.int()),
    ports: z.optional(z.int()),
  }),
  /** The recovery data of a removed workspace was deleted because of its age. */
  "workspace.forgotten": z.object({ id: WorkspaceId, name: z.string(), ref: z.string() }),
  /** Worktrees share one stash: an entry stashed in the workspace `id` was popped in `by`. It is kept under `ref`. */
  "workspace.stash_taken": z.object({ id: WorkspaceId, by: WorkspaceId, commit: z.string(), ref: z.string(), files: z.array(z.string()) }),
  /** The workspace's conflicts changed; `workspace` is an id. */
  "workspace.conflicts_changed": z.object({
    id: WorkspaceId,
    conflicts: z.array(z.object({ workspace: WorkspaceId, files: z.array(z.string()) })),
    base: z.array(z.string()),
  }),
};
